/** Only an image that is whole leaves the machine: what cannot be told to be one stays. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import jpeg from 'jpeg-js'
import { sha256Hex } from '../../src/base/canonical.js'
import { goesOn, reachesEnd } from '../../src/images/whole-file.js'
import { readForUpload } from '../../src/shots/analysis/privacy.js'
import { must } from '../support/must.js'
import { observationOf } from '../support/observations.js'
import { image } from '../support/png.js'
import { analyze, rowOf, scan, sent } from '../support/shots.js'
import { t } from '../support/tests-in-slices.js'
import { forImages } from '../world/gateway.js'
import { allowed } from '../world/images.js'
import { World } from '../world/world.js'

/** A JPEG that looks like no other number's. */
const photo = (n: number): Buffer => {
  const [width, height] = [64, 48]
  const data = Buffer.alloc(width * height * 4, 255)
  for (let at = 0; at < data.length; at += 4) {
    data[at] = data[at + 1] = data[at + 2] = ((at >> 7) * 37 * (n + 1)) & 0xff
  }
  return jpeg.encode({ width, height, data }, 80).data
}

/** Arithmetic coding: a JPEG of a kind that is not decoded here. */
const undecodable = (n: number): Buffer => {
  const bytes = Buffer.from(photo(n))
  bytes[bytes.indexOf(Buffer.from([0xff, 0xc0])) + 1] = 0xc9
  return bytes
}

/** The bytes up to a share of them, and room for the rest, as some copies make it. */
const halfCopied = (bytes: Buffer, share: number): Buffer =>
  Buffer.concat([bytes], bytes.length).fill(0, Math.floor(bytes.length * share))
const cut = (bytes: Buffer, share: number): Buffer =>
  bytes.subarray(0, Math.floor(bytes.length * share))

const damagedPng = (): Buffer => {
  const bytes = Buffer.from(image(7))
  bytes.fill(0xaa, 45, 60)
  return bytes
}

/** One bit of the header fell: the data inflates well, to another picture. */
const withBit = (at: number): Buffer => {
  const bytes = Buffer.from(image(at))
  bytes[at]! ^= 2
  return bytes
}

/** A picture within the header, whole, in a file that ends before its own picture does. */
const withThumbnail = (): Buffer => {
  const small = photo(1)
  const head = Buffer.from([0xff, 0xe1, 0, 0])
  head.writeUInt16BE(small.length + 2, 2)
  const whole = undecodable(2)
  return Buffer.concat([whole.subarray(0, 2), head, small, cut(whole.subarray(2), 0.9)])
}

/** With a chunk before the end; a capital first letter says that it cannot be left out. */
const withChunk = (png: Buffer, type: string): Buffer => {
  const content = Buffer.from(`${type}what only another program reads`, 'latin1')
  const [length, checksum] = [Buffer.alloc(4), Buffer.alloc(4)]
  length.writeUInt32BE(content.length - 4)
  checksum.writeUInt32BE(crc32(content))
  return Buffer.concat([png.subarray(0, -12), length, content, checksum, png.subarray(-12)])
}

const passwd = Buffer.concat([
  Buffer.from([0xff, 0xd8, 0xff]), Buffer.from('root:x:0:0:root:/root:/bin/bash\n'.repeat(20)),
])

/** What stays here, and why. */
const held: Readonly<Record<string, readonly [Buffer, string]>> = {
  'junk.jpg': [passwd, 'image_damaged'],
  'junk-with-end.jpg': [Buffer.concat([passwd, Buffer.from([0xff, 0xd9])]), 'image_damaged'],
  'cut.png': [cut(image(1), 0.5), 'image_truncated'],
  'no-end.png': [image(2).subarray(0, -12), 'image_truncated'],
  'cut.jpg': [cut(photo(3), 0.8), 'image_truncated'],
  'half-copied.jpg': [halfCopied(photo(4), 0.8), 'image_truncated'],
  'damaged.png': [damagedPng(), 'image_damaged'],
  'depth-bit.png': [withBit(24), 'image_damaged'],
  'interlace-bit.png': [withBit(28), 'image_damaged'],
  'other-cut.jpg': [cut(undecodable(5), 0.8), 'image_truncated'],
  'other-half-copied.jpg': [halfCopied(undecodable(6), 0.8), 'image_truncated'],
  'thumbnail.jpg': [withThumbnail(), 'image_truncated'],
  'cropped.png': [Buffer.concat([image(8), image(9).subarray(40)]), 'image_goes_on'],
  'motion.jpg': [Buffer.concat([photo(10), Buffer.from('ftyp')]), 'image_goes_on'],
  'other-motion.jpg': [Buffer.concat([undecodable(11), Buffer.from([0])]), 'image_goes_on'],
  'own-chunk.png': [withChunk(image(10), 'SECR'), 'image_damaged'],
}

t.test('S-019 S-021 S-062 what is no whole image is blocked by name and never sent', async (t) => {
  const world = await World.in(t).sandbox().state().session()
    .gateway(forImages).images(allowed).proof('screenshot')
  for (const [name, [bytes]] of Object.entries(held)) world.file(name, bytes)
  const whole = {
    'whole.png': image(60), 'whole.jpg': photo(8), 'other-whole.jpg': undecodable(9),
    'noted.png': withChunk(image(61), 'noTe'),
  }
  for (const [name, bytes] of Object.entries(whole)) world.file(name, bytes)
  t.hasStrict(await scan(world), { rejected: 0, deferred: 0 })
  await analyze(world, '--limit', '50')
  t.equal(sent(world), 4, 'the whole ones went')
  for (const name of Object.keys(whole)) {
    t.hasStrict(rowOf(world, name).analyzer, { contact: 'ended' }, name)
  }
  for (const [name, [, reason]] of Object.entries(held)) {
    t.hasStrict(rowOf(world, name), {
      analysis_status: 'blocked', payload: null, analyzer: { reason, contact: 'none' },
    }, name)
  }
  const later = await analyze(world)
  t.hasStrict(later.json(), { scanned: 0, restored: 0, passed_over: Object.keys(held).length })
  const bulk = await world.run([
    'shots', 'reanalyze', '--blocked', '--reason', 'manual_operator_request', '--yes', '--json',
  ])
  t.hasStrict(bulk.json(), { scanned: 0, analyzed: 0 })
  t.match(bulk.stderr, `${Object.keys(held).length} left out: no whole images`)
  t.equal(sent(world), 4, 'a bulk releases nothing')
})

t.test('S-021 a person releases one damaged image by name, and none that does not tell its size', async (t) => {
  const world = await World.in(t).sandbox().state().session()
    .gateway(forImages).images(allowed).proof('screenshot')
  world.file('cut.jpg', cut(photo(3), 0.8))
  world.file('junk.jpg', passwd)
  await scan(world)
  t.hasStrict((await analyze(world)).json(), { blocked: 2 })
  const again = (name: string, ...flags: string[]) => world.run([
    'shots', 'reanalyze', rowOf(world, name).observation_id, '--reason', 'manual_operator_request',
    '--json', ...flags,
  ])
  t.hasStrict((await again('cut.jpg')).json(), { blocked: 1 }, 'a name alone is no release')
  t.equal(sent(world), 0)
  t.hasStrict(must(await again('cut.jpg', '--release')).json(), { analyzed: 1 })
  t.equal(sent(world), 1)
  t.hasStrict((await again('junk.jpg', '--release')).error(), { reason: 'image_size_unknown' })
  const bulk = await world.run([
    'shots', 'reanalyze', '--blocked', '--reason', 'manual_operator_request', '--yes', '--json',
    '--release',
  ])
  t.strictSame([bulk.status, bulk.error().code], [2, 'release_by_name'])
  t.equal(sent(world), 1)
  const audit = await world.run(['audit', 'list', '--json'])
  t.match(audit.stdout, 'shots.image_released')
})

t.test('S-021 S-062 what does not tell its size is refused by the reading itself, before any release is asked', (t) => {
  const dir = t.testdir({})
  writeFileSync(join(dir, 'junk.jpg'), passwd)
  const row = observationOf(dir, 'junk.jpg', { sha256: sha256Hex(passwd) })
  const later = Date.now() + 60_000
  t.strictSame(readForUpload(row, later, false), { kind: 'refused', reason: 'image_damaged' })
  writeFileSync(join(dir, 'whole.jpg'), photo(8))
  const whole = observationOf(dir, 'whole.jpg', { sha256: sha256Hex(photo(8)) })
  t.equal(readForUpload(whole, later, false).kind, 'ready')
  t.end()
})

t.test('S-062 a file reaches its end part by part, whatever stands in its last bytes', (t) => {
  const png = image(1)
  t.equal(reachesEnd(png, 'png'), true)
  const longerBy = (bytes: Buffer, more: number) => Buffer.concat([bytes], bytes.length + more)
  const kinds = [[png, 'png'], [photo(1), 'jpeg'], [undecodable(1), 'jpeg']] as const
  for (const [bytes, format] of kinds) {
    t.equal(reachesEnd(longerBy(bytes, 9), format), true, 'it has its end')
    const told = [0, 1, 9].map((more) => goesOn(longerBy(bytes, more), format))
    t.strictSame(told, [false, true, true])
    t.equal(goesOn(bytes.subarray(0, -1), format), false, 'nothing is behind an end that is missing')
  }
  for (const bytes of [photo(1), undecodable(1)]) {
    t.equal(reachesEnd(bytes, 'jpeg'), true)
    for (let end = 0; end < bytes.length; end += 1) {
      if (reachesEnd(bytes.subarray(0, end), 'jpeg')) t.fail(`cut at ${end}`)
    }
  }
  for (let end = 0; end < png.length; end += 1) {
    if (reachesEnd(png.subarray(0, end), 'png')) t.fail(`cut at ${end}`)
  }
  t.equal(reachesEnd(readFileSync(process.execPath).subarray(0, 4_096), 'jpeg'), false)
  const longer = Buffer.from(png)
  longer.writeUInt32BE(1, png.length - 12)
  t.equal(reachesEnd(longer, 'png'), false, 'the last part says that it is longer')
  const jpeg = photo(1)
  const loose = Buffer.concat([jpeg.subarray(0, 2), Buffer.from('loose'), jpeg.subarray(2)])
  t.equal(reachesEnd(loose, 'jpeg'), false, 'bytes that belong to no segment')
  t.end()
})
