import { randomBytes, randomUUID } from 'node:crypto'
import {
  invitationBytesMax, openInvitation, readInvitation, requireInvitationPassphrase, sealInvitation,
  type Invitation,
} from '../../../src/state/place/invitation.js'
import { hostMachineName, requireMachineName } from '../../../src/state/place/machine-name.js'
import { apart } from '../../support/apart.js'
import { t } from '../../support/tests-in-slices.js'

const passphrase = 'goes by another way'

const invitation = (): Invitation => ({
  store_id: randomUUID(),
  key: randomBytes(32).toString('hex'),
  format_version: 7,
  created_at: '2026-11-29T08:00:00.000Z',
  profile: { name: 'default' },
  machine_name: 'build-2',
  address: 'postgres://ops@db.example:5432/sallyport',
  ca: null,
  password: 'of-the-server',
  position: { sequence: 12, link: randomBytes(32).toString('hex') },
  invited_at: '2026-11-29T08:00:00.000Z',
})

t.test('an invitation opens under its passphrase and tells nothing without it', async (t) => {
  const made = invitation()
  const bytes = await sealInvitation(made, passphrase)
  const text = bytes.toString()
  for (const inside of [made.store_id, made.key, 'db.example', 'of-the-server', 'build-2']) {
    t.notOk(text.includes(inside))
  }
  const outer = readInvitation(bytes)
  t.strictSame(await openInvitation(outer, passphrase), made)
  await t.rejects(openInvitation(outer, `${passphrase} `), {
    kind: 'rejected', code: 'invitation_not_opened',
  })
})

t.test('no invitation is sealed under a passphrase that is too short', async (t) => {
  await t.rejects(sealInvitation(invitation(), 'short'), {
    kind: 'rejected', code: 'invitation_passphrase_length',
  })
})

t.test('an invitation that was altered opens under no passphrase', async (t) => {
  const outer = readInvitation(await sealInvitation(invitation(), passphrase))
  const other = Buffer.from(outer.sealed, 'base64url')
  other.writeUInt8(other.readUInt8(other.length - 20) ^ 1, other.length - 20)
  for (const altered of [
    { ...outer, sealed: other.toString('base64url') },
    { ...outer, salt: randomBytes(16).toString('base64url') },
    { ...outer, n: outer.n / 2 },
    { ...outer, sealed: 'AAAA' },
  ]) {
    await t.rejects(openInvitation(altered, passphrase), { code: 'invitation_not_opened' })
  }
})

t.test('what a file asks of this machine is bounded before a passphrase is tried', async (t) => {
  const outer = readInvitation(await sealInvitation(invitation(), passphrase))
  for (const other of [
    { ...outer, n: outer.n + 1 }, { ...outer, n: 1 << 24 }, { ...outer, n: 2 }, { ...outer, r: 64 },
    { ...outer, p: 1_000 }, { ...outer, salt: '' }, { ...outer, kdf: 'none' },
    { ...outer, more: 1 }, { ...outer, sealed: 'no base64!' }, {}, null, [], 'x',
  ]) {
    t.throws(() => readInvitation(Buffer.from(JSON.stringify(other))), {
      kind: 'rejected', code: 'invitation_file',
    })
  }
  t.throws(() => readInvitation(Buffer.from('{')), { code: 'invitation_file' })
  const long = { ...outer, sealed: 'A'.repeat(invitationBytesMax) }
  t.throws(() => readInvitation(Buffer.from(JSON.stringify(long))), { code: 'invitation_file' })
})

t.test('the passphrase of an invitation has 12 to 1024 bytes', async (t) => {
  for (const good of ['a'.repeat(12), 'a'.repeat(1_024), 'é'.repeat(6)]) {
    t.doesNotThrow(() => requireInvitationPassphrase(good))
  }
  for (const bad of ['', 'a'.repeat(11), 'a'.repeat(1_025)]) {
    t.throws(() => requireInvitationPassphrase(bad), {
      kind: 'rejected', code: 'invitation_passphrase_length',
    })
  }
})

t.test('a machine is named by letters, digits, dots and dashes', async (t) => {
  for (const name of ['a', 'build-2', 'db.example', 'A_1', 'a'.repeat(64)]) {
    t.equal(requireMachineName(name), name)
  }
  for (const name of ['', '-a', '.a', 'a b', 'é', 'a'.repeat(65), 'a\n']) {
    t.throws(() => requireMachineName(name), { kind: 'rejected', code: 'machine_name_form' })
  }
  t.strictSame(['lap top.local', '...', '-x', 'é', 'y'.repeat(70)].map(hostMachineName), [
    'lap-top.local', 'machine', 'x', 'machine', 'y'.repeat(64),
  ])
  t.doesNotThrow(() => requireMachineName(hostMachineName()))
})

t.test('an invitation is sealed at the cost that it tells, which takes 128 MiB a guess', (t) => {
  const module = new URL('../../../src/state/place/invitation.js', import.meta.url).href
  const { n, r, p, same } = apart(`
    import crypto from 'node:crypto'
    import { syncBuiltinESMExports } from 'node:module'
    const { scrypt } = crypto
    let asked
    crypto.scrypt = (...given) => {
      asked = given[3]
      scrypt(...given)
    }
    syncBuiltinESMExports()
    const { sealInvitation } = await import(${JSON.stringify(module)})
    const given = ${JSON.stringify([invitation(), passphrase])}
    const made = await sealInvitation(...given)
    const { n, r, p } = JSON.parse(made)
    const same = String(asked.N === n && asked.r === r && asked.p === p)
    console.log(JSON.stringify({ n, r, p, same }))`)
  t.strictSame([n, r, p, same], [131_072, 8, 1, 'true'])
  t.end()
})
