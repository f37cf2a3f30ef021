"""An answer judged: expectations of its status and body, and its documented schema."""
