"""What needs several of the five folders: collecting checks, running them, writing the reports."""
