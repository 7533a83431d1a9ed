import { readFileSync, statSync } from 'node:fs'
import sharp from 'sharp'
import { cell, isSet } from '../../src/sandbox/samples/canvas.js'
import { sampleScreens } from '../../src/sandbox/samples/write.js'
import { World } from '../world/world.js'
import { t } from '../support/tests-in-slices.js'

t.test('the samples have real sizes and few bytes; a repeat has the same pixels and other bytes', async (t) => {
  const samples = sampleScreens()
  const by = new Map(samples.map((one) => [one.name, one.bytes]))
  const sizeOf = async (bytes: Buffer): Promise<string> => {
    const { format, width, height } = await sharp(bytes).metadata()
    return `${format} ${width}x${height}`
  }
  t.strictSame(await Promise.all(samples.map(({ bytes }) => sizeOf(bytes))), [
    'png 1920x1080', 'png 1920x1080', 'png 1920x1080', 'jpeg 1920x1080', 'png 2560x1440',
    'png 2560x1440',
  ])
  t.ok(samples.reduce((sum, { bytes }) => sum + bytes.length, 0) < 300_000)
  const all = new Map<string, Buffer>()
  for (const { name, bytes } of samples) {
    all.set(name, await sharp(bytes).removeAlpha().raw().toBuffer())
  }
  const pixels = (name: string): Buffer => all.get(name) ?? Buffer.alloc(0)
  t.strictSame([...pixels('editor.png').subarray(0, 3)], [38, 43, 53], 'its title bar')
  const [one, again] = [by.get('editor.png'), by.get('editor-again.png')]
  t.notOk(one?.equals(again ?? Buffer.alloc(0)))
  t.ok(pixels('editor.png').equals(pixels('editor-again.png')))
  t.notOk(pixels('editor.png').equals(pixels('editor-one-line.png')))
  t.ok(by.get('board.png')?.equals(by.get('board-copy.png') ?? Buffer.alloc(0)))
  t.notOk(isSet('~', 0, 0), 'what the font lacks is blank')
  t.notOk(isSet('A', cell.width - 1, 0))
})

t.test('sandbox samples writes them with times of the last hour, and never over a file', async (t) => {
  const place = World.in(t).place
  const ran = await place.run(['sandbox', 'samples', 'screens', '--json'])
  t.equal(ran.status, 0, ran.stderr)
  const files = ran.json<{ path: string }[]>()
  t.equal(files.length, 6)
  const times = files.map(({ path }) => statSync(path).mtimeMs)
  t.strictSame(times, [...times].sort((a, b) => a - b), 'oldest first')
  t.ok(Date.now() - (times[0] ?? 0) < 3_600_000)
  const first = files[0]?.path ?? ''
  const before = readFileSync(first)
  const again = await place.run(['sandbox', 'samples', 'screens'])
  t.equal(again.status, 5)
  t.ok(readFileSync(first).equals(before))
  const other = await place.run(['sandbox', 'samples', 'other'])
  t.match(other.stdout, 'editor-again.png: suppressed repeat')
})
