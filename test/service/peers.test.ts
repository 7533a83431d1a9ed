/** Actions of this machine itself, asked for from another address than loopback. */
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { loadToken, tokenPath } from '../../src/governance/session/token.js'
import { must } from '../support/must.js'
import { image } from '../support/png.js'
import { foreign } from '../support/service/foreign.js'
import { allowed } from '../world/images.js'
import { World } from '../world/world.js'

const child = fileURLToPath(new URL('../support/children/foreign-peer.js', import.meta.url))
/** A network of its own needs user namespaces, which not every machine gives. */
const separate = spawnSync('unshare', ['-rn', 'ip', 'link', 'set', 'lo', 'up']).status === 0

t.test('S-178 S-188 reanalysis and clear-stale asked for from another address are refused and change nothing', {
  skip: separate ? false : 'no network namespaces here',
}, async (t) => {
  const world = await World.in(t).sandbox().state().session().gateway().images(allowed)
  world.file('one.png', image(1))
  must(await world.run(['shots', 'scan']))
  const id = world.rows()[0]?.observation_id ?? ''
  const reanalyze = `/api/observer/screen-artifacts/${id}/reanalyze`
  const { stateDir, configDir } = world.place
  const before = world.rows()
  const sent = world.sandbox.log.all({ service: 'gateway' }).length
  const ran = await foreign('unshare', [
    '-rn', process.execPath, child, stateDir, configDir, loadToken(tokenPath(stateDir)) ?? '',
    reanalyze, '/api/settings/screen-analysis/clear-stale',
  ])
  t.equal(ran.status, 0, ran.stderr)
  const { reanalyzeHere, clearHere, ...elsewhere } = JSON.parse(ran.stdout)
  t.strictSame(elsewhere, {
    healthz: [200, null], session: [200, null],
    reanalyze: [403, 'http_peer'], clear: [403, 'http_peer'],
    reanalyzeForwarded: [403, 'http_peer'], clearForwarded: [403, 'http_peer'],
  }, 'the very same asked, by its address alone')
  t.not(reanalyzeHere[1], 'http_peer', 'from loopback it is a question of the use case')
  t.strictSame(clearHere, [200, null])
  t.strictSame(world.rows().map(({ observation_id: one }) => one),
    before.map(({ observation_id: one }) => one))
  t.equal(world.sandbox.log.all({ service: 'gateway' }).length, sent, 'nothing was sent')
})
