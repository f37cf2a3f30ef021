"""Updates of a table's encryption keys."""

import base64
import binascii

from msgspec import UNSET, Struct, structs

from icecheck.mock_server.metadata.builder import Draft
from icecheck.mock_server.metadata.model import EncryptedKey
from icecheck.mock_server.protocol.problem import bad_request
from icecheck.mock_server.updates.registry import table_update


@table_update
class AddEncryptionKeyUpdate(
    Struct, frozen=True, gc=False, tag="add-encryption-key", tag_field="action", rename="kebab"
):
    """Add a wrapped key; one that exists under the same id is kept as it is."""

    encryption_key: EncryptedKey

    def apply(self, draft: Draft) -> None:
        """Append the key unless its id is known; refuse (400) metadata that is not base64."""
        key, keys = self.encryption_key, draft.metadata.encryption_keys
        try:
            base64.b64decode(key.encrypted_key_metadata, validate=True)
        except (binascii.Error, ValueError) as error:
            raise bad_request(f"Invalid encrypted-key-metadata of {key.key_id}: {error}") from error
        if all(known.key_id != key.key_id for known in keys):
            # Java writes no empty map; a table must not change when Java writes it again.
            key = structs.replace(key, properties=key.properties or UNSET)
            draft.change(encryption_keys=(*keys, key))


@table_update
class RemoveEncryptionKeyUpdate(
    Struct, frozen=True, gc=False, tag="remove-encryption-key", tag_field="action", rename="kebab"
):
    """Remove a wrapped key, if there is one with this id."""

    key_id: str

    def apply(self, draft: Draft) -> None:
        """Remove the key; nothing changes if there is none."""
        keys = draft.metadata.encryption_keys
        kept = tuple(key for key in keys if key.key_id != self.key_id)
        if len(kept) != len(keys):
            draft.change(encryption_keys=kept)
