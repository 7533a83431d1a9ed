"""
Rebuilds every document of a state directory, and with the configuration directory opens what is
sealed, by docs/dev/state-format.md alone. For a test only.
"""
import json
import os
import re
import sys
import zlib

from sealed import Keys, content_of, need, read, sha, true_anchor

root, config = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else None


def sealed_line(line):
    """The value of a line of canonical JSON, a space, its SHA-256; None where it is untrue."""
    text, digest = line[:-65], line[-64:]
    if line[-65:-64] != b' ' or sha(text) != digest.decode('ascii', 'replace'):
        return None
    return json.loads(text)


def place(*names):
    return os.path.join(root, *names)


def log_at(epoch):
    path = place('wal', '%012d.log' % epoch)
    if not os.path.exists(path):
        return None, b''
    line, _, rest = read(path).partition(b'\n')
    return sealed_line(line), rest


def newest_manifest():
    form = re.compile(r'manifest\.\d{12}\.json')
    names = [name for name in os.listdir(place('collections')) if form.fullmatch(name)]
    for name in sorted(names, reverse=True):
        data = read(place('collections', name))
        manifest = sealed_line(data[:-1])
        if manifest is None or manifest.get('schema') != 'sallyport.manifest.v2':
            continue
        header, _ = log_at(manifest['epoch'] + 1)
        if manifest['founding'] and (header is None or header['manifest_sha256'] != sha(data)):
            continue
        return manifest
    raise SystemExit('no manifest')


def rows_of(facts):
    data = read(place('collections', facts['name']))
    need(sha(data) == facts['sha256'] and len(data) == facts['bytes'], facts['name'])
    offset, length, digest = facts['index']
    index = data[offset:offset + length]
    need(sha(index) == digest, 'index')
    for collection, first, start, size, block in json.loads(index):
        lines = data[start:start + size]
        need(sha(lines) == block, 'block')
        rows = [json.loads(line) for line in lines.decode()[:-1].split('\n')]
        need(rows[0][:2] == [collection, first], 'first key')
        yield from rows


def records_of(store, epoch, sequence, chain, data):
    at = 0
    while at < len(data):
        header = data[at:at + 40]
        number, size, check = int(header[3:19]), int(header[20:30]), header[31:39].decode()
        crc = zlib.crc32(('%s|%d|' % (store, epoch)).encode() + header[:30])
        need('%08x' % crc == check and number == sequence + 1, 'record header')
        end = at + 40 + size
        after = sha(chain.encode() + header[:31] + data[at + 40:end])
        need(data[end:end + 66] == b'\n' + after.encode() + b'\n', 'chain')
        payload = json.loads(data[at + 40:end])
        if 'next_epoch' in payload:
            need(payload['next_epoch'] == epoch + 1, 'seal')
            return
        yield number, after, payload
        sequence, chain, at = number, after, end + 66


def canonical(value):
    """Of the documents here: their numbers are whole, their names of members ASCII."""
    text = json.dumps(value, separators=(',', ':'), sort_keys=True, ensure_ascii=False)
    return text.encode()


manifest = newest_manifest()
documents, marks = {}, list(manifest['marks'])
for run in reversed(manifest['runs']):
    for facts in run['files']:
        for row in rows_of(facts):
            documents[row[0], row[1]] = row[2:]
sequence, chain, epoch = manifest['sequence'], manifest['chain'], manifest['epoch'] + 1
while True:
    header, data = log_at(epoch)
    if header is None:
        break
    need(header['base_sequence'] == sequence and header['base_chain'] == chain, 'log')
    for sequence, chain, payload in records_of(manifest['store_id'], epoch, sequence, chain, data):
        for collection, _, name, *doc in payload['ops']:
            documents[collection, name] = doc
        if 'mark' in payload:
            marks.append({**payload['mark'], 'sequence': sequence, 'chain': chain})
    epoch += 1


def chain_of(name, key, head):
    """Entries of a history, each compared with its digest, and the head with the last."""
    start = json.dumps(['sallyport.history.v1', name, key], separators=(',', ':'))
    digest, size = sha(start.encode()), 0
    for n in range(1, head['entries'] + 1):
        row = documents[name + '_history', '%s/%06d' % (key, n)][0]
        line = canonical(row['entry'])
        digest = sha(('%s,%d,"%s"]\n' % (start[:-1], n, digest)).encode() + line)
        need(digest == row['digest'], 'entry')
        size += len(line) + 1
    need(head['digest'] == digest and head['bytes'] == size, 'head')


for (collection, name), doc in documents.items():
    if collection.endswith('_history_head') and doc:
        chain_of(collection[:-len('_history_head')], name[:-1], doc[0])


def witnessed():
    """Lines of the witness log, each compared with the one before and with its revision."""
    lines = read(place('witness.log')).split(b'\n')[:-1]
    before, revision = '0' * 64, 0
    for text in lines:
        line = json.loads(text)
        digest = line.pop('digest')
        need(digest == sha(canonical(line)) and line['previous'] == before, 'witness line')
        published = documents['policy', '%012d' % line['revision']][0]
        need(line['policy_sha256'] == sha(canonical(published)), 'witnessed policy')
        need(line['revision'] > revision, 'order of the witness')
        before, revision = digest, line['revision']
    return len(lines)


def sealed_rows():
    """What rows name of artifacts: collection, id, record type, the three."""
    for (collection, name), doc in documents.items():
        if doc and collection == 'artifacts':
            yield collection, name, doc[0]['label'], doc[0]['ref']
        elif doc and collection == 'credentials':
            yield collection, name, 'vault.credential.v1', doc[0]['artifact']
        elif doc and collection == 'edge_artifacts':
            yield collection, name, 'svc.edge.capture.v1', doc[0]['ref']


def with_the_key():
    state = sealed_line(read(place('STATE'))[:-1])
    keys = Keys(config, state['store_id'])
    need(state['profile_digest'] == sha(canonical(state['profile'])), 'digest of the profile')
    text = '%s|%s' % (state['store_id'], state['profile_digest'])
    need(keys.mac('profile', text.encode()).hex() == state['profile_seal'], 'profile')
    anchor = true_anchor(keys, config, marks)
    need(anchor in marks[-2:], 'anchored mark')
    told = []
    for collection, name, label, ref in sealed_rows():
        content = content_of(keys, root, label, ref)
        is_pack = isinstance(content, dict)
        told.append([collection, name, {body: data.hex() for body, data in content.items()}
                     if is_pack else content.hex()])
    return {'profile': state['profile'], 'mark': anchor['number'], 'witnessed': witnessed(),
            'contents': told}


found = [[c, i, d[0]] for (c, i), d in documents.items() if d]
print(json.dumps({'sequence': sequence, 'documents': found, **(with_the_key() if config else {})}))
