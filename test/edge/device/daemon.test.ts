import { createHash, randomUUID } from 'node:crypto'
import { chmodSync, copyFileSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import t from 'tap'
import { isoFromMs } from '../../../src/base/clock.js'
import { gapAfter } from '../../../src/edge/device/backoff.js'
import { onDisk, pictureOf } from '../../support/edge/device.js'
import { startOrigin } from '../../support/edge/origin.js'
import type { Fault } from '../../support/edge/origin.js'
import { deviceOf, linesOf } from '../../support/edge/paired.js'
import { failure, must } from '../../support/must.js'
import { until } from '../../support/until.js'

const sha256 = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex')
const saidBy = (line: string): { code: string; origin: string; pin: string } =>
  JSON.parse(Buffer.from(line.slice('sallyport-pair-v1.'.length), 'base64url').toString())
const waiting = (dir: string): number => onDisk(dir).items

t.test('S-027 S-028 S-036 what was captured arrives unchanged, in order, with all that it must say', async (t) => {
  const device = await deviceOf(t)
  const { service, place } = device
  const ids = [
    await device.capture(1, '--source', 'editor', '--purpose', 'timesheet'),
    await device.capture(2), await device.capture(3),
  ]
  const ran = must(await device.once())
  t.strictSame(service.uploads.map(({ told }) => told['request_id']), ids)
  t.strictSame(service.uploads.map(({ body }) => body), [1, 2, 3].map(pictureOf))
  t.strictSame(service.violations, [])
  const { credential } = device.pairing()
  for (const [at, { told, headers }] of service.uploads.entries()) {
    const bytes = pictureOf(at + 1)
    t.equal(headers.authorization, `Bearer ${credential}`)
    t.match(credential, /^spe_[A-Za-z0-9_-]{43}$/)
    t.strictSame(told, {
      schema: 'sallyport.edge.upload.input.v1', request_id: ids[at], sequence: at + 1,
      captured_at: isoFromMs(statSync(place.path(`shot-${at + 1}.png`)).mtimeMs),
      sha256: sha256(bytes), bytes: bytes.length, mime: 'image/png',
      policy: { cloud_egress: false, model_egress: false },
      purpose: at === 0 ? 'timesheet' : 'screenshot',
      ...(at === 0 ? { source: 'editor' } : {}),
      source_path: place.path(`shot-${at + 1}.png`),
    })
  }
  const lines = linesOf(ran)
  t.strictSame(lines.map(({ event }) => event), ['ready', 'sent', 'sent', 'sent', 'stopped'])
  t.strictSame(lines.slice(1, 4).map((line) => [line.request_id, line.sequence, line.artifact_id]),
    ids.map((id, at) => [id, at + 1, service.stored.get(id)?.artifact['artifact_id']]))
  t.strictSame(service.requests, Array(3).fill('POST /api/edge/artifacts'))
  t.equal(waiting(place.edgeDir), 0)
  t.strictSame(linesOf(must(await device.once())).map(({ event }) => event), ['ready', 'stopped'])
  t.equal(service.uploads.length, 3, 'nothing is sent twice')
})

t.test('S-042 S-043 egress to clouds and to models is told apart, each off unless said', async (t) => {
  const device = await deviceOf(t)
  for (const flags of [[], ['--cloud-egress'], ['--model-egress']]) {
    await device.capture(1, ...flags)
  }
  must(await device.once())
  t.strictSame(device.service.uploads.map(({ told }) => told['policy']), [
    { cloud_egress: false, model_egress: false }, { cloud_egress: true, model_egress: false },
    { cloud_egress: false, model_egress: true },
  ])
})

t.test('a pairing string works once, from a file or stdin, and its secrets are shown nowhere', async (t) => {
  const device = await deviceOf(t, { paired: false })
  const { place, service } = device
  t.hasStrict(failure(await device.once()), { status: 3, code: 'edge_not_paired' })
  const line = service.pairingString()
  place.write('pair.txt', `${line}\n`)
  const flags = ['--pair-file', 'pair.txt', '--device-name', 'desk']
  const ran = must(await device.once(...flags, '--verbose'))
  t.strictSame(linesOf(ran).map(({ event }) => event), ['paired', 'ready', 'stopped'])
  const { credential } = device.pairing()
  t.equal(statSync(join(place.edgeDir, 'pairing.json')).mode & 0o777, 0o600)
  const again = await device.once(...flags)
  t.hasStrict(failure(again), { status: 4, code: 'edge_pairing_refused' })
  t.equal(again.error().reason, 'edge_code_invalid')
  t.equal(device.pairing().credential, credential, 'the pairing of before stands')
  const { code } = saidBy(line)
  for (const { stdout, stderr } of [ran, again]) {
    for (const secret of [credential, code, line]) t.notOk(`${stdout}${stderr}`.includes(secret))
  }
  t.strictSame(service.violations, [])
  must(await device.pair())
  t.not(device.pairing().credential, credential)
})

t.test('S-197 what is no pairing string, or leads to no one machine, is refused with nothing sent', async (t) => {
  const device = await deviceOf(t, { paired: false })
  const { service } = device
  const good = service.pairingString()
  const said = saidBy(good)
  const coded = (value: unknown): string =>
    `sallyport-pair-v1.${Buffer.from(JSON.stringify(value)).toString('base64url')}`
  const cases: readonly (readonly [string, string])[] = [
    ['', 'pairing_string_invalid'], ['x', 'pairing_string_invalid'],
    [`${good}=`, 'pairing_string_invalid'], [`${good} `, 'pairing_string_invalid'],
    [good.replace('v1', 'v2'), 'pairing_string_invalid'],
    [coded({ ...said, more: 1 }), 'pairing_string_invalid'],
    [coded({ ...said, code: 'short' }), 'pairing_string_invalid'],
    [coded([said]), 'pairing_string_invalid'],
    ['x'.repeat(3_000), 'input_too_large'],
    [coded({ ...said, origin: 'https://169.254.169.254' }), 'url_refused'],
    [coded({ ...said, origin: `${said.origin}/` }), 'url_refused'],
    [coded({ ...said, origin: said.origin.replace('https', 'http') }), 'url_refused'],
    [coded({ ...said, pin: 'sha256/x' }), 'pin_refused'],
  ]
  for (const [stdin, code] of cases) {
    const ran = await device.place.run(
      ['edge', 'daemon', '--once', '--pair-file', '-', '--json'], { stdin })
    t.hasStrict(failure(ran), { status: 3, code }, stdin.slice(0, 40))
  }
  t.equal(service.connections(), 0)
  const debugged = await device.place.run(
    ['edge', 'daemon', '--once', '--pair-file', '-', '--json'],
    { stdin: good, env: { NODE_DEBUG: 'tls' } })
  t.hasStrict(failure(debugged), { status: 3, code: 'debug_output_refused' })
  t.equal(service.connections(), 0)
})

t.test('debug output that would print a picture stops the daemon before anything is sent', async (t) => {
  const device = await deviceOf(t)
  await device.capture(1)
  for (const options of [{ env: { NODE_DEBUG: 'http' } }, { execArgv: ['--tls-keylog=k'] }]) {
    const ran = await device.place.run(['edge', 'daemon', '--once', '--json'], options)
    t.hasStrict(failure(ran), { status: 3, code: 'debug_output_refused' })
  }
  t.equal(device.service.requests.length, 0)
})

t.test('a squatter on the port of the service gets no request, at pairing and afterwards', async (t) => {
  const device = await deviceOf(t, { paired: false })
  const { port, key } = device.service
  const line = device.service.pairingString()
  await device.service.close()
  const squatter = await startOrigin(t, { port })
  const pairing = await device.place.run(
    ['edge', 'daemon', '--once', '--pair-file', '-', '--json'], { stdin: line })
  t.hasStrict(failure(pairing), { status: 9, code: 'edge_pairing_failed' })
  t.strictSame([pairing.error().reason, pairing.error().details.contact], ['tls_failed', 'none'])
  await squatter.close()
  const service = await startOrigin(t, { port, key })
  must(await device.place.run(['edge', 'daemon', '--once', '--pair-file', '-', '--json'],
    { stdin: service.pairingString() }))
  const id = await device.capture(1)
  await service.close()
  const second = await startOrigin(t, { port })
  const ran = await device.once()
  t.hasStrict(failure(ran), { status: 9, code: 'edge_not_sent' })
  t.equal(ran.error().reason, 'tls_failed')
  t.strictSame([squatter.requests, second.requests], [[], []])
  t.ok(squatter.connections() > 0 && second.connections() > 0, 'they were reached')
  t.equal(waiting(device.place.edgeDir), 1, id)
})

t.test('S-037 a lost answer is asked for again as the same request: one artifact, one id', async (t) => {
  const device = await deviceOf(t)
  const { service } = device
  service.fault('lost-reply', 'cut')
  const id = await device.capture(1, '--request-id', '01890a5d-ac96-774b-bcce-b302099a8057')
  await device.capture(1, '--request-id', id)
  const next = await device.capture(2)
  const ran = await device.running(() =>
    until('all is sent', () => waiting(device.place.edgeDir) === 0))
  t.equal(ran.status, 0)
  t.strictSame(service.uploads.map(({ told }) => [told['request_id'], told['sequence']]),
    [[id, 1], [id, 1], [id, 1], [next, 2]])
  t.strictSame([...service.stored.keys()], [id, next])
  const sent = linesOf(ran).filter(({ event }) => event === 'sent')
  t.strictSame(sent.map((line) => line.artifact_id),
    [...service.stored.values()].map(({ artifact }) => artifact['artifact_id']))
})

t.test('one run that is stopped before all is sent says so', async (t) => {
  const device = await deviceOf(t)
  const stopped = async () => {
    const stop = new AbortController()
    const ran = await device.place.run(['edge', 'daemon', '--once', '--json'], {
      stop: stop.signal, at: (step) => void (step === 'daemon.removed' && stop.abort()),
    })
    t.strictSame(linesOf(ran).map(({ event }) => event), ['ready', 'sent', 'stopped'])
    return ran
  }
  await device.capture(1)
  await device.capture(2)
  const ran = await stopped()
  t.hasStrict([ran.status, ran.error().code], [130, 'edge_daemon_stopped'])
  t.equal(waiting(device.place.edgeDir), 1)
  t.equal((await stopped()).status, 0, 'nothing was left')
})

t.test('S-038 gaps between tries grow up to a bound and stay within it', async (t) => {
  const device = await deviceOf(t, { settings: { retry: { first_ms: 100, most_ms: 100_000 } } })
  device.service.always({ status: 503 })
  await device.capture(1)
  const ran = await device.running(() =>
    until('five tries', () => device.service.uploads.length === 5))
  const waits = linesOf(ran).filter(({ event }) => event === 'waiting')
    .map(({ wait_ms }) => Number(wait_ms))
  const times = device.service.uploads.map(({ atMs }) => atMs)
  for (let at = 1; at < times.length; at += 1) {
    t.ok(times[at]! - times[at - 1]! >= waits[at - 1]! - 1, 'the gap was kept')
    if (at > 1) t.ok(waits[at - 1]! > waits[at - 2]!, waits.join())
  }
  fc.assert(fc.property(
    fc.integer({ min: 1, max: 60 }), fc.double({ min: 0, max: 0.999, noNaN: true }),
    fc.double({ min: 0, max: 0.999, noNaN: true }),
    (failures, chance, other) => {
      const retry = { first_ms: 1_000, most_ms: 300_000, timeout_ms: 1 }
      const [gap, next] = [gapAfter(failures, retry, chance), gapAfter(failures + 1, retry, other)]
      return gap >= 666 && gap <= 300_000 && (next > gap || failures > 8)
    },
  ))
})

t.test('S-037 what is refused for ever lies aside with its reason, and the next is sent', async (t) => {
  const refusals: readonly (readonly [Fault, string])[] = [
    [{ status: 400, code: 'request_invalid' }, 'request_invalid'],
    [{ status: 409, code: 'request_id_conflict' }, 'request_id_conflict'],
    [{ status: 413, code: 'edge_upload_too_large', unread: true }, 'edge_upload_too_large'],
    [{ status: 422, code: 'sha256_differs' }, 'sha256_differs'],
  ]
  const device = await deviceOf(t)
  device.service.fault(...refusals.map(([fault]) => fault))
  const ids: string[] = []
  for (let n = 0; n <= refusals.length; n += 1) ids.push(await device.capture(n))
  const ran = await device.once()
  t.equal(failure(ran).code, 'edge_put_aside')
  const lines = linesOf(ran)
  const told = lines.filter(({ event }) => event === 'aside')
  t.strictSame(told.map((line) => [line.request_id, line.reason]),
    refusals.map(([, reason], at) => [ids[at], reason]))
  t.strictSame([...device.service.stored.keys()], ids.slice(-1))
  t.equal(device.service.lastSequence, ids.length, 'numbers are not used twice')
  const aside = onDisk(device.place.edgeDir).entries.filter(({ path }) => /aside\/./.test(path))
  t.strictSame(aside.map(({ name }) => name.split('.').at(-1)).sort(),
    refusals.map(([, reason]) => reason).sort())
})

t.test('S-037 a refusal that says nothing of a capture loses none, however many wait', async (t) => {
  const device = await deviceOf(t)
  const ids: string[] = []
  for (let n = 0; n <= 101; n += 1) ids.push(await device.capture(n))
  for (const code of ['state_moved', 'server_changed', 'clock_apart']) {
    device.service.always({ status: 409, code })
    t.equal(failure({ ...await device.once(), stdout: '' }).code, 'edge_not_sent')
  }
  t.equal(waiting(device.place.edgeDir), ids.length)
  device.service.always(null)
  must(await device.once())
  t.strictSame([...device.service.stored.keys()], ids)
})

t.test('a refusal that comes before the body was read is heard, however large the body is', async (t) => {
  const device = await deviceOf(t)
  const { place } = device
  place.write('large.png', Buffer.concat([pictureOf(1), Buffer.alloc(12 * 1024 * 1024, 7)]))
  must(await place.run(['edge', 'capture', 'large.png']))
  const next = await device.capture(2)
  device.service.fault({ status: 413, code: 'edge_upload_too_large', unread: true })
  const ran = await device.once()
  t.equal(failure(ran).code, 'edge_put_aside')
  const lines = linesOf(ran)
  t.strictSame(lines.map(({ event, reason }) => [event, reason]).slice(1, 3),
    [['aside', 'edge_upload_too_large'], ['sent', null]])
  t.strictSame([...device.service.stored.keys()], [next])
})

t.test('a pairing that is taken away after something was sent ends with no status that says nothing was', async (t) => {
  for (const [act, code] of [
    [(path: string) => chmodSync(path, 0o644), 'edge_pairing_unsafe'],
    [(path: string) => writeFileSync(path, '{}'), 'edge_pairing_invalid'],
  ] as const) {
    const device = await deviceOf(t)
    for (const number of [1, 2]) await device.capture(number)
    const ran = await device.place.run(['edge', 'daemon', '--once', '--json'], {
      at: (step) => {
        if (step === 'daemon.removed') act(join(device.place.edgeDir, 'pairing.json'))
      },
    })
    t.hasStrict(failure({ ...ran, stdout: '' }), { status: 9, code })
    t.equal(device.service.uploads.length, 1)
  }
})

t.test('a credential that counts no more stops the sending until somebody pairs again',
  async (t) => {
    for (const status of [401, 403]) {
      const device = await deviceOf(t)
      const { service, place } = device
      const ids = [await device.capture(1), await device.capture(2)]
      service.fault({ status, code: 'edge_credential_invalid' })
      const ran = await device.once()
      t.hasStrict(failure({ ...ran, stdout: '' }), { status: 4, code: 'edge_pairing_ended' })
      t.equal(service.requests.length, 1)
      t.hasStrict(failure({ ...await device.once(), stdout: '' }), { status: 4 })
      t.equal(service.requests.length, 1, 'not even asked')
      t.equal(waiting(place.edgeDir), 2, 'nothing is lost')
      await device.capture(3)
      must(await device.pair())
      t.strictSame([...service.stored.keys()].slice(0, 2), ids)
      t.equal(service.stored.size, 3)
      t.strictSame(service.uploads.slice(-3).map(({ told }) => told['sequence']), [1, 2, 3],
        'numbers count for one pairing')
    }
  })

t.test('a pairing that is taken away or replaced while a capture waits for its turn sends nothing', async (t) => {
  const device = await deviceOf(t)
  await device.capture(1)
  const path = join(device.place.edgeDir, 'pairing.json')
  const file = readFileSync(path, 'utf8')
  const ended = { status: 4, code: 'edge_pairing_ended' }
  for (const [act, told] of [
    [() => rmSync(path), ended],
    [() => writeFileSync(path, '{}'), { status: 3, code: 'edge_pairing_invalid' }],
    [() => writeFileSync(path,
      file.replace(/"credential":"spe_....../, '"credential":"spe_AAAAAA')), ended],
    [() => chmodSync(path, 0o644), { status: 3, code: 'edge_pairing_unsafe' }],
    [() => writeFileSync(path,
      file.replace('"ended_at":null', `"ended_at":"${isoFromMs(0)}"`)), ended],
  ] as const) {
    const ran = await device.place.run(['edge', 'daemon', '--once', '--json'], {
      at: (step) => { if (step === 'daemon.numbered') act() },
    })
    t.hasStrict(failure({ ...ran, stdout: '' }), told)
    rmSync(path, { force: true })
    writeFileSync(path, file, { mode: 0o600 })
  }
  t.equal(device.service.uploads.length, 0)
  chmodSync(path, 0o640)
  t.hasStrict(failure(await device.once()), { status: 3, code: 'edge_pairing_unsafe' })
  writeFileSync(path, file.slice(0, -20))
  chmodSync(path, 0o600)
  t.hasStrict(failure(await device.once()), { status: 3, code: 'edge_pairing_invalid' })
  t.equal(device.service.requests.length, 0)
})

t.test('a hostile or broken service costs one request a try, and nothing is lost or followed', async (t) => {
  const device = await deviceOf(t, {
    settings: { retry: { first_ms: 100, most_ms: 400, timeout_ms: 1_500 } },
  })
  const id = await device.capture(1)
  const faults: readonly (readonly [Fault, string])[] = [
    ['redirect', 'http_307'], ['garbage', 'reply_invalid'], ['other-artifact', 'reply_invalid'],
    ['huge', 'reply_too_large'], ['drip', 'timeout'], ['silent', 'timeout'], ['cut', 'reset'],
    [{ status: 404 }, 'refused'], [{ status: 429 }, 'refused'], [{ status: 500 }, 'refused'],
    [{ status: 507, code: 'edge_store_full' }, 'edge_store_full'],
    [{ status: 409, code: 'upload_under_way' }, 'upload_under_way'],
    [{ status: 400, code: 'http_body_cut_short' }, 'http_body_cut_short'],
    [{ status: 401 }, 'refused'], [{ status: 403, code: 'http_peer' }, 'http_peer'],
    [{ status: 411 }, 'refused'], [{ status: 415, code: 'Not A Code' }, 'http_415'],
  ]
  for (const [fault, reason] of faults) {
    device.service.fault(fault)
    const before = device.service.requests.length
    const ran = await device.once()
    t.hasStrict(failure({ ...ran, stdout: '' }), { status: 9, code: 'edge_not_sent' })
    t.equal(ran.error().reason, reason, JSON.stringify(fault))
    t.strictSame(ran.error().next, reason === 'edge_store_full'
      ? [{ command: 'sallyport edge pair', needs_person: true }] : [])
    t.equal(device.service.requests.length, before + 1)
  }
  must(await device.once())
  t.strictSame([...device.service.stored.keys()], [id])
  t.ok(device.service.uploads.every(({ told }) => told['sequence'] === 1), 'one number for all')
})

t.test('S-040 numbers that were lost, or are those of an old copy, go on behind the last that the '
  + 'service took', async (t) => {
  const device = await deviceOf(t)
  const { service, place } = device
  const path = join(place.edgeDir, 'sending.json')
  await device.capture(1)
  must(await device.once())
  copyFileSync(path, place.path('old'))
  for (const n of [2, 3]) await device.capture(n)
  must(await device.once())
  rmSync(path)
  const lost = await device.capture(4)
  must(await device.once())
  t.equal(service.stored.get(lost)?.artifact['sequence'], 4)
  t.equal(service.requests.filter((line) => line.startsWith('GET')).length, 1)
  copyFileSync(place.path('old'), path)
  const old = await device.capture(5)
  must(await device.once())
  t.equal(service.stored.get(old)?.artifact['sequence'], 5)
  service.fault({ status: 409, code: 'sequence_not_greater' },
    { status: 409, code: 'sequence_not_greater' })
  await device.capture(6)
  const last = await device.capture(7)
  const ran = await device.once()
  t.equal(failure(ran).code, 'edge_put_aside')
  const lines = linesOf(ran)
  t.strictSame(lines.filter(({ event }) => event === 'aside').map(({ reason }) => reason),
    ['sequence_not_greater'], 'it is not asked for ever')
  t.equal(service.stored.get(last)?.artifact['sequence'], 8, 'what was given out is never given again')
  t.strictSame(service.violations, [])
})

t.test('S-040 numbers that are told of another device count for nothing', async (t) => {
  const device = await deviceOf(t)
  const { service, place } = device
  const id = await device.capture(1)
  rmSync(join(place.edgeDir, 'sending.json'), { force: true })
  service.tellsOf = `edge_dev_${randomUUID()}`
  service.lastSequence = 40
  const ran = await device.once()
  t.hasStrict(failure({ ...ran, stdout: '' }), { status: 9, code: 'edge_not_sent' })
  t.equal(ran.error().reason, 'reply_invalid')
  t.equal(service.uploads.length, 0)
  service.tellsOf = null
  service.lastSequence = 4
  must(await device.once())
  t.equal(service.stored.get(id)?.artifact['sequence'], 5)
})

t.test('S-040 each capture whose number was used up gets another one, once, and none is put aside for another', async (t) => {
  const device = await deviceOf(t)
  const { service } = device
  const ids: string[] = []
  await device.running(async () => {
    for (const n of [1, 2]) {
      service.fault({ status: 409, code: 'sequence_not_greater' })
      ids.push(await device.capture(n))
      await until('left', () => waiting(device.place.edgeDir) === 0)
    }
  })
  t.strictSame([...service.stored.keys()], ids)
})

t.test('S-041 a capture that is on the blocklist by now is dropped: 0 bytes of it reach the service',
  async (t) => {
    const device = await deviceOf(t)
    const blocked = await device.capture(1, '--source', 'A Wallet')
    const other = await device.capture(2, '--source', 'editor')
    device.settings({ blocklist: { sources: ['*wallet*'] } })
    const lines = linesOf(must(await device.once()))
    t.strictSame(lines.filter(({ event }) => event === 'evicted')
      .map(({ eviction }) => [eviction?.request_id, eviction?.reason]), [[blocked, 'blocked']])
    t.strictSame(device.service.uploads.map(({ told }) => told['request_id']), [other])
    t.equal(waiting(device.place.edgeDir), 0)
  })

t.test('S-041 while the settings cannot be read nothing is sent, and it goes on when they can', async (t) => {
  const device = await deviceOf(t)
  const { edgeDir } = device.place
  const ran = await device.running(async () => {
    await device.capture(1)
    await until('sent', () => waiting(edgeDir) === 0)
    const file = device.place.write('late.png', pictureOf(2))
    const taken = device.place.run(['edge', 'capture', file], {
      at: (step) => {
        if (step === 'spool.written') writeFileSync(join(edgeDir, 'settings.json'), '{"blocklist":')
      },
    })
    must(await taken)
    await new Promise((resolve) => setTimeout(resolve, 300))
    t.equal(device.service.uploads.length, 1)
    device.settings({ retry: { first_ms: 100, most_ms: 400 } })
    await until('sent', () => waiting(edgeDir) === 0)
  })
  t.match(ran.stdout, /edge_settings_invalid/)
  t.equal(device.service.uploads.length, 2)
})

t.test('S-039 what grows too old while nothing can be sent leaves unsent, and is shown', async (t) => {
  const device = await deviceOf(t, {
    settings: { limits: { max_age_seconds: 1 }, retry: { first_ms: 100, most_ms: 200 } },
  })
  const id = await device.capture(1)
  await device.service.close()
  const ran = await device.running(() => until('gone', () => waiting(device.place.edgeDir) === 0))
  t.strictSame(linesOf(ran).filter(({ event }) => event === 'evicted')
    .map(({ eviction }) => [eviction?.request_id, eviction?.reason]), [[id, 'age']])
  t.match(readFileSync(join(device.place.edgeDir, 'evictions.log'), 'utf8'), id)
  t.equal(device.service.uploads.length, 0)
})

t.test('S-040 a capture that was harmed in the spool lies aside unsent, and the next is sent', async (t) => {
  const device = await deviceOf(t)
  await device.capture(1)
  const path = onDisk(device.place.edgeDir).entries.find(({ path, facts }) =>
    facts.isFile() && path.includes('/queue/'))!.path
  writeFileSync(path, readFileSync(path).subarray(0, -1))
  const next = await device.capture(2)
  const ran = await device.once()
  t.equal(failure(ran).code, 'edge_put_aside')
  const lines = linesOf(ran)
  t.strictSame(lines.filter(({ event }) => event === 'aside').map(({ reason }) => reason),
    ['spool_item_damaged'])
  t.strictSame([...device.service.stored.keys()], [next])
})

t.test('one run says in words why it could not send, and ends as a failure where something was put aside', async (t) => {
  const device = await deviceOf(t)
  await device.capture(1)
  device.service.fault({ status: 503, code: 'store_locked' })
  const late = await device.place.run(['edge', 'daemon', '--once'])
  t.equal(late.status, 9)
  t.match(late.stderr, 'could be sent (store_locked).')
  device.service.fault({ status: 403, code: 'edge_egress_not_allowed' })
  const never = await device.place.run(['edge', 'daemon', '--once'])
  t.equal(never.status, 9)
  t.match(never.stderr, 'will never be taken (edge_egress_not_allowed).')
  t.match(never.stdout, /stopped: 0 waiting, \d+ bytes, 1 aside/)
  must(await device.once())
})
