/** The page's own program, run against the real page by a small browser. */
import { shortOf } from '../../../src/base/ids.js'
import { pageMarkup } from '../../../src/service/page/markup.js'
import { browse, type FakeBrowser } from '../../support/service/fake-browser.js'
import { codeIn } from '../../support/service/paging.js'
import { pairOver } from '../../support/service/devices.js'
import { serving } from '../../support/service/serving.js'
import { image } from '../../support/png.js'
import { must } from '../../support/must.js'
import { take } from '../../support/shots.js'
import { until } from '../../support/until.js'
import { t } from '../../support/tests-in-slices.js'
import type { Teardown } from '../../world/place.js'
import { forImages } from '../../world/gateway.js'
import { allowed } from '../../world/images.js'
import { World } from '../../world/world.js'

const begun = async (t: Teardown) => {
  const world = await World.in(t).state().session().images()
  const at = await serving(t, world, { page: world.session().root.root_id })
  return { world, at }
}

const setup = async (t: Teardown, given?: Awaited<ReturnType<typeof begun>>) => {
  const { world, at } = given ?? await begun(t)
  const page = await browse(at, `#${codeIn(at.started.offered?.openFile ?? '')}`)
  await until('the page to show something', () => page.at('newest').textContent !== '')
  return { world, at, page }
}

const linesOf = ({ requests }: FakeBrowser, line: string) =>
  requests.filter((one) => one.line === line)

const scan = 'POST /api/observer/screenshot-folder/scan'

t.test('S-193 one click on scan is exactly one call of the scan endpoint, with a valid body', async (t) => {
  const { world, page } = await setup(t)
  for (const n of [1, 120]) world.file(`${n}.png`, image(n))
  page.at('scan').does('click')
  page.at('scan').does('click')
  await until('the scan to be told', () => /^Looked/.test(page.at('scan-told').textContent))
  t.strictSame(linesOf(page, scan).map(({ body }) => body), ['{}'], 'two quick clicks are one')
  t.match(page.at('scan-told').textContent, /Looked at 2: 2 new, 0 known/)
  t.equal(world.rows().length, 2)
  page.at('scan').does('click')
  await until('the second to be told', () => /0 new/.test(page.at('scan-told').textContent))
  t.equal(linesOf(page, scan).length, 2)
})

t.test('the code is taken out of the address, and what is shown is what there is', async (t) => {
  const { page } = await setup(t)
  t.equal(page.address(), '/')
  t.strictSame(page.requests.slice(0, 2).map(({ line }) => line),
    ['POST /api/page/open', 'GET /api/overview'])
  t.equal(page.at('entry').hidden, true)
  t.equal(page.at('desk').hidden, false)
  t.match(page.at('waiting').textContent, /Nothing waits|sallyport /)
  t.match(page.at('devices').textContent, /None\. Pair one/)
})

t.test('the page says when the session ends that it looks with', async (t) => {
  const given = await begun(t)
  const { root } = await given.world.json(['session', 'show'])
  const { page } = await setup(t, given)
  const [overview] = linesOf(page, 'GET /api/overview')
  const ends = overview?.answer?.session_ends_at
  t.ok([root.idle_expires_at, root.expires_at].includes(ends), ends)
  const told = new Date(ends).toLocaleString([], {
    month: 'short', day: 'numeric', hour: '2-digit', minute: '2-digit', hourCycle: 'h23',
  })
  t.match(page.at('foot').textContent, `this one ends on ${told} `)
})

t.test('a device is shown with what it told of its spool, and where it told nothing that is said', async (t) => {
  const rig = await begun(t)
  const [{ credential }] = [await pairOver(rig.world, rig.at), await pairOver(rig.world, rig.at)]
  t.equal((await rig.at.ask('POST', '/api/edge/pairing/spool', {
    token: credential, body: { evictions: 37 },
  })).status, 200)
  const { page } = await setup(t, rig)
  t.match(page.at('devices').textContent,
    /Evicted from its spool\s*none told[^]*Evicted from its spool\s*37/)
})

t.test('devices of one name are told apart by their short ids, in the list, at the button and at the question', async (t) => {
  const rig = await begun(t)
  const both = [await pairOver(rig.world, rig.at), await pairOver(rig.world, rig.at)]
  const shown = both.map(({ device_id: id }) => shortOf(id))
  const { page } = await setup(t, rig)
  const buttons = page.at('devices').all()
    .filter(({ tag, textContent }) => tag === 'button' && textContent === 'Revoke')
  t.strictSame(
    buttons.map((one) => one.getAttribute('aria-label')),
    [...shown].reverse().map((id) => `Revoke camera, ${id}`))
  for (const id of shown) t.match(page.at('devices').textContent, id)
  buttons[1]?.does('click')
  await until('the question', () => page.at('confirm-title').textContent !== '')
  t.equal(page.at('confirm-title').textContent, `End the pairing of camera, ${shown[0]}?`)
  t.strictSame((await rig.world.run(['edge', 'revoke', String(shown[0])])).status, 0,
    'a verb takes it')
})

t.test('what a refusal says helps is shown with it', async (t) => {
  const { world, page } = await setup(t)
  page.at('folder-path').value = '/'
  page.at('folder-form').does('submit')
  await until('the refusal', () => page.at('folder-told').textContent !== '')
  const said = await world.run(['shots', 'config', 'set', '--json', '--folder', '/'])
  const { message, hint } = JSON.parse(said.stderr).error
  t.equal(page.at('folder-told').textContent, `${message} ${hint.replaceAll('`', '')}`)
})

t.test('the money of the day says how many of its charges are disputed', async (t) => {
  const world = await World.in(t).sandbox().state().session()
    .gateway(forImages).images(allowed).proof('report').texts()
  world.say('ready', { cost: '5' })
  t.equal((await world.prove('report')).error().code, 'proof_failed')
  const at = await serving(t, world, { page: world.session().root.root_id })
  const { page } = await setup(t, { world, at })
  t.match(page.at('spend-parts').textContent, /requests, 1 charge disputed/)
})

t.test('what waits is counted by what is shown of it, as a terminal counts it', async (t) => {
  const world = await World.in(t).sandbox().state().session()
    .gateway(forImages).images(allowed).proof('screenshot').texts()
  const { reply_model: model, reply_provider: provider } = (await world.json(['gateway', 'show']))
    .gateway.slots.screenshot.proof
  for (const name of ['1.png', '2.png']) {
    await take(world, name)
    world.say('{', { model, provider })
    t.not((await world.run(['shots', 'analyze'])).status, 0)
  }
  const at = await serving(t, world, { page: world.session().root.root_id })
  const { page } = await setup(t, { world, at })
  const rows = page.at('waiting').children.map(({ textContent }) => textContent)
  t.match(rows[0], /^2 images failed /)
  const { waiting } = await world.json(['status'])
  t.equal(page.at('waiting-count').textContent, String(waiting.length))
  t.equal(rows.length, waiting.length)
})

t.test('a confirmation starts unchecked, and nothing is revoked until it is checked', async (t) => {
  const { page } = await setup(t)
  const revoke = 'POST /api/policy/revoke'
  const [box, yes, dialog] =
    [page.at('confirm-check'), page.at('confirm-yes'), page.at('confirm')]
  box.checked = true
  page.at('stop-all').does('click')
  await until('the question', () => page.at('confirm-title').textContent !== '')
  t.equal(box.checked, false)
  t.equal(yes.disabled, true)
  for (const id of ['confirm-text', 'confirm-label']) {
    t.match(page.at(id).textContent, /writ.* to a code host/, `${id}: what else it ends`)
  }
  t.match(pageMarkup, /Ends every consent .*\bwrites to a code host/, 'beside the button')
  dialog.returnValue = 'yes'
  dialog.does('close')
  await new Promise((resolve) => setImmediate(resolve))
  t.strictSame(linesOf(page, revoke), [], 'yes without the box')
  page.at('stop-all').does('click')
  box.checked = true
  box.does('change')
  t.equal(yes.disabled, false)
  dialog.returnValue = 'yes'
  dialog.does('close')
  await until('what waits', () => /policy is revoked/.test(page.at('waiting').textContent))
  t.equal(linesOf(page, revoke).length, 1)
})

t.test('a page whose session has ended shows nothing of before and says why', async (t) => {
  const { world, page } = await setup(t)
  must(await world.run(['logout']))
  page.at('scan').does('click')
  await until('the way back', () => page.at('desk').hidden)
  t.match(page.at('told').textContent, /ended.*sallyport serve --open/)
  for (const id of ['waiting', 'folder', 'consents', 'devices', 'who', 'newest']) {
    t.equal(page.at(id).textContent, '', id)
  }
  t.equal(page.at('entry').hidden, false)
})

t.test('a page whose service was stopped says so', async (t) => {
  const { at, page } = await setup(t)
  await at.stop()
  page.at('scan').does('click')
  await until('the end', () => /does not answer/.test(page.at('told').textContent))
  t.match(page.at('scan-told').textContent, /does not answer/)
})

t.test('the day opens in a tab of its own, and the page can be closed', async (t) => {
  const { page } = await setup(t)
  page.at('day').does('click')
  await until('the tab', () => page.tabs.length === 1)
  t.match(page.tabs[0], /^\/report\/[A-Za-z0-9_-]{22}$/)
  page.at('close').does('click')
  await until('the entry', () => page.at('desk').hidden)
  t.match(page.at('told').textContent, /closed/)
})
