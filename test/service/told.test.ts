/** What the service says to type names its state, to operators and to nobody else. */
import { newId } from '../../src/base/ids.js'
import { pairOver } from '../support/service/devices.js'
import { askPage, codeIn } from '../support/service/paging.js'
import { serving } from '../support/service/serving.js'
import { t } from '../support/tests-in-slices.js'
import { World } from '../world/world.js'

const carried = ['--state-dir', '/some where']
const suffix = ` --state-dir '/some where'`

t.test('a refusal, a document and a page name the state that is served', async (t) => {
  const world = await World.in(t).sandbox().state().session().images()
  const at = await serving(t, world, { page: world.session().root.root_id, carried: () => carried })
  const refused = await at.ask('GET', '/api/work-board/tasks/task_none')
  const command = `sallyport task list${suffix}`
  t.strictSame([refused.status, refused.json().error.hint, refused.json().error.next],
    [404, `Run \`${command}\`.`, [{ command, needs_person: false }]])
  const { folder } = await at.get('/api/overview')
  t.equal(folder.manual_scan_action.command, `sallyport shots scan${suffix}`)
  const unknown = await at.ask('GET', '/api/overview', { token: 'x'.repeat(43) })
  t.equal(unknown.status, 401)
  t.notMatch(unknown.bytes.toString(), '/some where', 'nobody is told where a state lies')
  const code = codeIn(at.started.offered?.openFile ?? '')
  const opened = await askPage(at, 'POST', '/api/page/open', { body: { code } })
  t.strictSame(opened.json().commands, {
    login: `sallyport login${suffix}`, open: `sallyport serve --open${suffix}`,
    pair: `sallyport edge pair${suffix}`, set_up: `sallyport setup${suffix}`,
  })
})

t.test('a device is not told where the state of its service lies', async (t) => {
  const world = await World.in(t).state().session()
  const at = await serving(t, world, { carried: () => carried })
  const stranger = await at.ask('GET', '/api/edge/artifacts/art_none', { token: 'x' })
  t.equal(stranger.status, 401)
  t.notMatch(stranger.bytes.toString(), '/some where')
  const { credential } = await pairOver(world, at)
  const path = `/api/edge/artifacts/${newId('edge_art')}`
  const none = await at.ask('GET', path, { token: credential })
  t.strictSame([none.status, none.json().error.hint], [404, 'Run `sallyport edge artifacts`.'])
})
