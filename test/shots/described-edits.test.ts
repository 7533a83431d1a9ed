/**
 * Small screens of real type, 256 of them described, and then others with an edit more: whatever
 * changed is asked about, whatever is there once more is not. What is the same is judged by what
 * was drawn, not by any reader of ours.
 */
import sharp from 'sharp'
import { dice } from '../support/images/edit-suite.js'
import { draw, realEdits, sceneOf, type Drawn, type Scene } from '../support/images/real-text.js'
import { must } from '../support/must.js'
import { after } from '../support/observations.js'
import { analyze, scan, sent, set } from '../support/shots.js'
import { rounds } from '../support/slice.js'
import { t } from '../support/tests-in-slices.js'
import { forImages } from '../world/gateway.js'
import { allowed } from '../world/images.js'
import { World, type AnalysisWorld } from '../world/world.js'

const kinds = Object.keys(realEdits)

/** Screens of one size: fonts, sizes and scales repeat with 27 of them. */
const baseOf = (number: number): Scene => sceneOf(27 * number)

const edited = (scene: Scene, kind: string, seed: number): Scene =>
  realEdits[kind]?.(scene, dice(seed)) ?? scene

/** Screen number `i` of the described ones: each base as it is, and with one edit of each kind. */
const describedScene = (i: number): Scene => {
  const [base, edit] = [Math.floor(i / (kinds.length + 1)), i % (kinds.length + 1)]
  return edit === 0 ? baseOf(base) : edited(baseOf(base), kinds[edit - 1] ?? '', i)
}

/** Lossless, in other bytes for another level. */
const png = ({ rgba, width, height }: Drawn, compressionLevel: number): Promise<Buffer> =>
  sharp(rgba, { raw: { width, height, channels: 4 } }).removeAlpha()
    .png({ compressionLevel }).toBuffer()

/** Whether no channel of any pixel is further off than what noise explains. */
const looksSame = ({ rgba: a }: Drawn, { rgba: b }: Drawn): boolean => {
  if (a.length !== b.length) return false
  // No call for each of so many values: they were an eighth of this file.
  for (let i = 0; i < a.length; i += 1) if (Math.abs(a[i]! - b[i]!) > 2) return false
  return true
}

const put = async (
  world: AnalysisWorld, screens: readonly Drawn[], from: number, level: number,
): Promise<void> => {
  for (const [i, drawn] of screens.entries()) {
    world.file(`${String(from + i).padStart(5, '0')}.png`, await png(drawn, level),
      after((from + i) * 60_000))
  }
  await scan(world, '--limit', '10000')
}

t.test('S-070 S-071 S-072 of described screens of type every changed one is asked about, and every one that comes back is not', async (t) => {
  const world = await World.in(t).sandbox().state().session()
    .gateway({ ...forImages, ceilingMicrousd: 1_000_000_000 }).images(allowed).proof('screenshot')
  await set(world, '--budget-microusd', '1000000000', '--budget-requests', '100000')
  const count = rounds('described', { short: 48, all: 256 })
  const known = Array.from({ length: count }, (_, i) => draw(describedScene(i)))
  await put(world, known, 0, 3)
  const first = must(await analyze(world, '--limit', '1000')).json()
  // A scan held back what looks like the one before it; an earlier one is a repeat here, too.
  t.equal(first.failed + first.blocked + first.skipped, 0)
  const next: Drawn[] = []
  for (let i = 0; i < count; i += 1) {
    const two = [kinds[i % kinds.length] ?? '', kinds[(i * 7 + 3) % kinds.length] ?? '']
    const scene = edited(edited(describedScene((i * 5) % count), two[0] ?? '', 1_000 + i),
      two[1] ?? '', 2_000 + i)
    next.push(i % 4 === 3 ? known[(i * 11) % count]! : draw(scene))
  }
  const before = sent(world)
  await put(world, next, 1_000, 9)
  const taken = world.rows().filter(({ analysis_status: status }) => status === 'pending')
  const expected = new Map<string, boolean>()
  const seen = [...known]
  for (const [i, drawn] of next.entries()) {
    expected.set(`${1_000 + i}.png`.padStart(9, '0'), seen.some((one) => looksSame(one, drawn)))
    seen.push(drawn)
  }
  const receipt = must(await analyze(world, '--limit', '1000')).json()
  const wrong = world.rows().filter((row) => taken.some(({ observation_id: id }) =>
    id === row.observation_id)).flatMap((row) => {
    const [name = ''] = row.paths.map((path) => path.name.text)
    const isReused = row.payload?.payload_of !== undefined
    return isReused === expected.get(name) ? [] : [`${name}: ${isReused ? 'taken' : 'asked'}`]
  })
  t.strictSame(wrong, [])
  t.comment(`${taken.length} of ${next.length} taken in, ${receipt.reused} repeats`)
  t.equal(sent(world) - before, receipt.analyzed - receipt.reused)
  t.ok(receipt.reused > count / 8)
  t.ok(receipt.analyzed - receipt.reused > count / 4)
})
