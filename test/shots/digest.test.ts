import t from 'tap'
import { canonicalJson, sha256Hex } from '../../src/base/canonical.js'
import { bodyOf } from '../gateway/rig.js'
import { makeTextWorld, moment, type TextWorld } from './text-rig.js'

t.setTimeout(120_000)

const text = 'The window was spent on the ledger; one test stayed open.'

/** Three analysed screenshots of one window. */
const three = (world: TextWorld) => world.analysed(
  { name: 'a.png', at: moment(2, 1) }, { name: 'b.png', at: moment(2, 5) },
  { name: 'c.png', at: moment(2, 29) },
)

const contentOf = async (world: TextWorld, id: string): Promise<string> =>
  (await world.run(['shots', 'digests', id, '--json'])).json().content

t.test('S-096 S-097 S-098 S-099 S-100 S-104 S-140 S-142 a digest is the episode of one window: names, window, sources, counts and digest agree, and its text is what the model wrote', async (t) => {
  const world = await makeTextWorld(t)
  const rows = await three(world)
  world.say(text)
  const ran = await world.digest()
  t.equal(ran.status, 0, ran.stderr)
  const receipt = ran.json()
  t.match(receipt, { job: 'screenshot_observation_digest', status: 'ok', written: 1 })
  const [episode] = world.episodes()
  t.same(receipt.windows[0].episode, episode, 'the receipt holds the episode')
  t.match(episode, {
    source_tool: 'screenshot_observation_digest',
    schema_version: 'svc.screenshot_observation_digest.v1',
    window_start: moment(2), window_end: moment(1), observation_count: 3,
    source_observation_ids: rows.map((row) => row.observation_id),
    content_chars: [...text].length, revision: 1,
  })
  t.equal(await contentOf(world, episode?.episode_id ?? ''), text)
  const view = world.view()
  const stored = world.open().artifacts.read(
    'svc.screenshot_observation_digest.v1',
    view.get({ name: 'artifacts' } as never, episode?.artifact_id ?? '')?.['ref'] as never,
  )
  t.equal(sha256Hex(stored), episode?.payload_sha256, 'the digest is that of the stored payload')
  t.equal(canonicalJson(JSON.parse(stored.toString())), stored.toString())
  t.equal(world.asked().length, 1)
  const kept = view.all({ name: 'shot_receipts', partition: 'hash256' } as never)
  t.match(JSON.stringify(kept), episode?.episode_id, 'and so does the stored receipt')
})
