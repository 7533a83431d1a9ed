"""Keys, the anchor and sealed content by docs/dev/state-format.md alone. For a test only."""
import hashlib
import hmac
import json
import os

from aes_gcm import opened

STREAM_PIECE = 256 * 1024
TAG = 16


def sha(data):
    return hashlib.sha256(data).hexdigest()


def need(held, what):
    if not held:
        raise SystemExit('untrue: ' + what)


def read(*names):
    with open(os.path.join(*names), 'rb') as file:
        return file.read()


class Keys:
    """The subkeys of a store, by HKDF-SHA-256 of RFC 5869."""

    def __init__(self, config, store):
        text = read(config, 'keys', store + '.key')
        need(len(text) == 65 and text[64:] == b'\n', 'key file')
        self.store = store
        self.extracted = hmac.digest(store.encode(), bytes.fromhex(text[:64].decode()), 'sha256')

    def sub(self, use):
        return hmac.digest(self.extracted, b'sallyport/' + use.encode() + b'\x01', 'sha256')

    def mac(self, use, text):
        return hmac.digest(self.sub(use), text, 'sha256')


def sealed_slot(keys, slot):
    line = slot.rstrip(b'\0')
    text, seal = line[:-66], line[-65:-1]
    if line[-66:-65] != b' ' or keys.mac('anchor', text).hex().encode() != seal:
        return None
    anchor = json.loads(text)
    need(anchor.pop('schema') == 'sallyport.anchor.v2', 'anchor')
    need(anchor.pop('store_id') == keys.store, 'anchor')
    return anchor


def true_anchor(keys, config, marks):
    data = read(config, 'keys', keys.store + '.anchor')
    need(len(data) == 8192, 'anchor')
    slots = [sealed_slot(keys, data[:4096]), sealed_slot(keys, data[4096:])]
    sealed = [slot for slot in slots if slot is not None]
    need(len(sealed) > 0, 'anchor')
    newest = max(sealed, key=lambda slot: slot['number'])
    need(len(sealed) == 2 or newest['number'] + 1 == marks[-1]['number'], 'anchor')
    return newest


class Pieces:
    """A file that is sealed in pieces."""

    def __init__(self, keys, label, data):
        name = data[4:20].hex()
        self.magic = data[:4].decode()
        self.data = data
        self.key = keys.sub('artifact-pieces/%s/%s' % (label, name))
        self.about = '%s|%s|%s|%s' % (self.magic, keys.store, label, name)

    def piece(self, at, size, role, number, facts):
        nonce = bytes((role == 'index', 0, 0, 0)) + number.to_bytes(8, 'big')
        about = '%s|%s|%d|%s' % (self.about, role, number, facts)
        plain = opened(self.key, nonce, self.data[at:at + size], about.encode())
        need(plain is not None, 'piece %d' % number)
        return plain

    def stream(self, ref):
        content, number, at = b'', 0, 20
        while True:
            size = min(STREAM_PIECE + TAG, len(self.data) - at)
            is_last = at + size == len(self.data)
            facts = str(ref['bytes']) if is_last else ''
            content += self.piece(at, size, 'last' if is_last else 'piece', number, facts)
            number, at = number + 1, at + size
            if is_last:
                return content

    def pack(self, ref):
        count, length = (int.from_bytes(self.data[-n:][:8], 'big') for n in (16, 8))
        begin = len(self.data) - 16 - length
        text = self.piece(begin, length, 'index', 0, '%d|%d' % (count, begin))
        index = json.loads(text)
        need(sha(text) == ref['sha256'] and len(index['pieces']) == count, 'index of a pack')
        plain, starts, at = b'', [], 20
        for number, (size, tag) in enumerate(index['pieces']):
            need(self.data[at + size:at + size + TAG].hex() == tag, 'tag of a piece')
            starts.append(len(plain))
            plain += self.piece(at, size + TAG, 'piece', number, '')
            at += size + TAG
        need(at == begin, 'end of the pieces')
        bodies = {}
        for name, size, digest, piece, offset in index['bodies']:
            start = starts[piece] + offset
            bodies[name] = plain[start:start + size]
            need(sha(bodies[name]) == digest, 'body')
        need(sum(map(len, bodies.values())) == ref['bytes'], 'length of a pack')
        return bodies


def in_one(keys, label, ref, data):
    magic, nonce = data[:4].decode(), data[4:16]
    use = 'artifact/' + label
    if magic == 'SPD1':
        use = 'artifact-deterministic/%s/%s' % (label, ref['sha256'])
        named = keys.mac('artifact-nonce/' + label, ref['sha256'].encode())
        need(nonce == named[:12], 'nonce')
    about = '%s|%s|%s' % (magic, keys.store, label)
    return opened(keys.sub(use), nonce, data[16:], about.encode())


def content_of(keys, root, label, ref):
    """What a row names: bytes, of a pack its bodies by name."""
    name = ref['stored_sha256']
    data = read(root, 'artifacts', name[:2], name)
    need(sha(data) == name, 'name of an artifact')
    if data[:4] == b'SPP1':
        return Pieces(keys, label, data).pack(ref)
    plain = (Pieces(keys, label, data).stream(ref) if data[:4] == b'SPT1'
             else in_one(keys, label, ref, data))
    need(plain is not None and sha(plain) == ref['sha256'], 'content')
    need(len(plain) == ref['bytes'], 'length')
    return plain
