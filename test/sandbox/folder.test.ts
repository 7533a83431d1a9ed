import { X509Certificate } from 'node:crypto'
import { readFile, readdir, stat, writeFile } from 'node:fs/promises'
import { networkInterfaces } from 'node:os'
import { join } from 'node:path'
import { connect } from 'node:tls'
import t from 'tap'
import { certificatesUsable, makeCertificates } from '../../src/sandbox/certificates.js'
import { folderFiles, readFolder } from '../../src/sandbox/folder.js'
import { startSandbox } from '../../src/sandbox/start.js'
import { ask } from '../support/sandbox/asks.js'
import { lowPorts } from '../support/sandbox/low-ports.js'
import { World } from '../world/world.js'

const modeOf = async (path: string): Promise<string> =>
  ((await stat(path)).mode & 0o777).toString(8)

t.test('the folder is private, and no key of the authority is in it', async (t) => {
  const dir = join(t.testdir({}), 'box')
  const { sandbox } = await World.in(t).sandbox({ dir })
  t.equal(await modeOf(dir), '700')
  const names = await readdir(dir)
  // Repositories of the code host come with its first request; see codehost/folder.test.ts.
  t.strictSame([...names].sort(), [...Object.values(folderFiles)].sort())
  for (const name of names) t.equal(await modeOf(join(dir, name)), '600', name)
  const keys = []
  for (const name of names) {
    if ((await readFile(join(dir, name), 'utf8')).includes('PRIVATE KEY')) keys.push(name)
  }
  t.strictSame(keys, ['server.key'])
  const leafKey = new X509Certificate(await readFile(join(dir, 'server.pem'))).publicKey
  t.notOk(leafKey.equals(new X509Certificate(sandbox.caPem).publicKey))
})

t.test('the profile has the closed shape that init takes', async (t) => {
  const { sandbox } = await World.in(t).sandbox()
  const profile = JSON.parse(await readFile(sandbox.profileFile, 'utf8')) as unknown
  t.strictSame(profile, {
    schema: 'sallyport.profile.v1',
    name: 'sandbox',
    provider: {
      name: 'sandbox',
      base_url: `https://127.0.0.1:${sandbox.ports.provider}/v1`,
      model_id: 'sandbox/plain-answer-1',
    },
    gateway: { base_url: `https://127.0.0.1:${sandbox.ports.gateway}/api/v1` },
    codehost: { base_url: `https://127.0.0.1:${sandbox.ports.codehost}` },
    ca_file: join(sandbox.profileFile, '..', 'ca.pem'),
  })
  t.equal(await readFile(sandbox.profile.ca_file, 'utf8'), sandbox.caPem)
  t.match(await readFile(sandbox.keyFiles.provider, 'utf8'), /^\S+\n$/)
})

t.test('a second start in the same folder keeps ports, certificate and token', async (t) => {
  const dir = join(t.testdir({}), 'box')
  await lowPorts(dir)
  const { sandbox: first } = await World.in(t).sandbox({ dir })
  await first.stop()
  const { sandbox: second } = await World.in(t).sandbox({ dir })
  t.strictSame(second.ports, first.ports)
  t.equal(second.caPem, first.caPem)
  t.equal(second.controlToken, first.controlToken)
  t.equal((await ask(second)).status, 200)
})

t.test('starting where one runs is a conflict that leaves nothing behind', async (t) => {
  const dir = join(t.testdir({}), 'box')
  const { sandbox: first } = await World.in(t).sandbox({ dir })
  await t.rejects(startSandbox({ dir }), { kind: 'conflict', code: 'sandbox_port_taken' })
  t.equal((await ask(first)).status, 200)
  t.strictSame((await readFolder(dir))?.ports, first.ports)
})

t.test('a folder of something else is refused and left as it was', async (t) => {
  const dir = t.testdir({ 'notes.txt': 'mine' })
  await t.rejects(startSandbox({ dir }), { kind: 'rejected', code: 'sandbox_dir_not_empty' })
  t.strictSame(await readdir(dir), ['notes.txt'])
  t.equal(await readFolder(dir), null)
})

t.test('what a crash or a hand left broken is made anew', async (t) => {
  const dir = join(t.testdir({}), 'box')
  const { sandbox: first } = await World.in(t).sandbox({ dir })
  await first.stop()
  for (const text of ['{}', 'nope', '{"schema":"sallyport.sandbox.v1","ports":{},"token":"x"}']) {
    await writeFile(join(dir, 'sandbox.json'), text)
    await writeFile(join(dir, 'server.pem'), 'not a certificate')
    const { sandbox: again } = await World.in(t).sandbox({ dir })
    t.equal((await ask(again)).status, 200)
    await again.stop()
  }
})

t.test('every loopback name is served and verified', async (t) => {
  const v6 = Object.values(networkInterfaces()).some((all) =>
    all?.some((one) => one.address === '::1'),
  )
  for (const host of ['127.0.0.1', 'localhost', '[::1]'] as const) {
    if (host === '[::1]' && !v6) continue
    const { sandbox } = await World.in(t).sandbox({ host })
    const reply = await ask(sandbox)
    t.equal(reply.status, 200, `${host}: ${reply.error}`)
  }
})

t.test('a client that does not trust the authority gets nowhere', async (t) => {
  const { sandbox } = await World.in(t).sandbox()
  const { caPem } = await makeCertificates()
  const reply = await ask(sandbox, {}, { ca: caPem })
  t.equal(reply.status, null)
  t.match(reply.error, /CERT|SIGNATURE/)
  t.equal(sandbox.log.count(), 0)
})

t.test('TLS below 1.2 is refused', async (t) => {
  const { sandbox } = await World.in(t).sandbox()
  const error = await new Promise((resolve) => {
    const socket = connect({
      host: '127.0.0.1',
      port: sandbox.ports.provider,
      ca: sandbox.caPem,
      minVersion: 'TLSv1',
      maxVersion: 'TLSv1.1',
      // Without this the client itself would refuse, and the server would not be asked.
      ciphers: 'DEFAULT@SECLEVEL=0',
    })
    socket.on('error', resolve)
    socket.on('secureConnect', () => resolve(null))
  })
  t.hasStrict(error, { code: 'ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION' })
})

t.test('certificates end in ten years and are not used on their last day', async (t) => {
  const now = Date.now()
  const tls = await makeCertificates(now)
  const day = 24 * 60 * 60 * 1000
  t.ok(certificatesUsable(tls, now))
  t.ok(certificatesUsable(tls, now + 3000 * day))
  t.notOk(certificatesUsable(tls, now + 3649.5 * day))
  t.notOk(certificatesUsable(tls, now - 2 * day))
  t.notOk(certificatesUsable({ ...tls, caPem: (await makeCertificates(now)).caPem }, now))
  t.match(new X509Certificate(tls.certPem).subjectAltName, /127\.0\.0\.1.*localhost/)
})
