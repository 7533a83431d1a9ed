/** The code host's part of a sandbox folder. */
import { readFile, readdir, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { World } from '../../world/world.js'
import { hostOf, settled } from '../../support/sandbox/host-client.js'

t.test('what was published is there again after a restart', async (t) => {
  const dir = join(t.testdir({}), 'box')
  const first = await hostOf(t, { dir })
  await first.create(`${first.top}/issues`, { title: 'Kept', body: null })
  const { json: { object } } = await first.get(`${first.top}/git/ref/heads/main`)
  const { json: { id } } = await first.get(first.top)
  await first.sandbox.stop()
  const again = await hostOf(t, { dir })
  t.strictSame(again.sandbox.ports, first.sandbox.ports)
  t.equal((await again.get(again.top)).json.id, id)
  t.equal((await again.get(`${again.top}/issues/1`)).json.title, 'Kept')
  t.equal((await again.get(`${again.top}/git/ref/heads/main`)).json.object.sha, object.sha)
  t.equal((await again.create(`${again.top}/issues`, { title: 'Next' })).json.number, 2)
  await settled(t, again)
})

t.test('a folder of an earlier version gains a port, a token and a repository', async (t) => {
  const dir = join(t.testdir({}), 'box')
  const first = await hostOf(t, { dir })
  await first.sandbox.stop()
  const file = join(dir, 'sandbox.json')
  const settings = JSON.parse(await readFile(file, 'utf8')) as {
    ports: Record<string, number>, token: string
  }
  const ports = Object.fromEntries(
    Object.entries(settings.ports).filter(([name]) => name !== 'codehost'))
  t.equal(Object.keys(ports).length, 3)
  await writeFile(file, JSON.stringify({ ...settings, ports }))
  const again = await hostOf(t, { dir })
  t.hasStrict(again.sandbox.ports, ports)
  t.equal(again.sandbox.controlToken, settings.token)
  t.equal((await again.get(again.top)).json.full_name, 'operator/notes')
  await settled(t, again)
})

t.test('nothing is made before somebody asks, and what is made is private', async (t) => {
  const dir = join(t.testdir({}), 'box')
  const host = await hostOf(t, { dir })
  t.notOk((await readdir(dir)).includes('codehost'))
  t.equal((await readFile(host.sandbox.keyFiles.codehost, 'utf8')), 'sandbox-codehost-token\n')
  await host.get(host.top)
  const mode = async (name: string): Promise<number> => (await stat(join(dir, name))).mode & 0o777
  t.equal(await mode('codehost'), 0o700)
  t.equal(await mode('codehost/book.json'), 0o600)
})

t.test('a state that was sealed with the profile of an earlier sandbox works as before', async (t) => {
  const { sandbox } = await World.in(t).sandbox()
  const { codehost, ...earlier } = sandbox.profile
  t.match(codehost.base_url, /^https:/)
  const profileFile = join(t.testdir({}), 'earlier.json')
  await writeFile(profileFile, JSON.stringify(earlier))
  const { run } = await World.in(t).state({ profileFile }).session()
  for (const words of [['status'], ['state', 'check'], ['alpha', 'show'], ['doctor']]) {
    const { stderr } = await run([...words, '--json'])
    t.notMatch(stderr, /profile|damaged/, words.join(' '))
  }
})
