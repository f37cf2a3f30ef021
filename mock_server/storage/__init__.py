"""The files of a server: on disk below given directories, or in memory."""
