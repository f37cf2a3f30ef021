"""The one view method of PyIceberg that the document does not know; the others have tests of views.

See tests/mock/views/test_view_pyiceberg.py.
"""

import pytest
from pyiceberg.catalog.rest import RestCatalog

from icecheck.mock_server import MockCatalog


def test_views_cannot_be_registered_in_this_version_of_the_document(
    mock: MockCatalog, catalog: RestCatalog
) -> None:
    with pytest.raises(NotImplementedError, match="register-view"):
        catalog.register_view("ns.v", "file:///nowhere/v.metadata.json")
    assert mock.journal.count() == mock.journal.count("getConfig") + 1, "nothing was asked"
