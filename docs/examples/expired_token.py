"""A token expires in the middle of a job: the clock of the mock moves, nobody waits for an hour.

Run it: `python expired_token.py`. It needs `icecheck[suite]`.
"""

from pyiceberg.exceptions import UnauthorizedError

from icecheck.mock_server import Client, MockCatalog, OAuth2Settings


def main() -> None:
    """Use a token until its time is over, then fetch another one."""
    oauth2 = OAuth2Settings(clients=(Client("job", "s3cret"),), token_seconds=3600)
    with MockCatalog(oauth2=oauth2) as mock:
        catalog = mock.pyiceberg("wh", token=mock.access_token("job"))
        catalog.create_namespace("db")
        mock.clock.advance(2 * 3600 * 1000)
        try:
            catalog.list_namespaces()
            ended = "still works"
        except UnauthorizedError:
            ended = "is refused"
        renewed = mock.pyiceberg("wh", credential="job:s3cret").list_namespaces()
        print(f"after two hours the token {ended}; with a new one: {renewed}")


if __name__ == "__main__":
    main()
