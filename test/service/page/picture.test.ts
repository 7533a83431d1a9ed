/** Pictures on the page: whom they are shown to, which bytes are sent, and how many at a time. */
import {
  mkdirSync, readFileSync, readdirSync, renameSync, rmSync, symlinkSync, writeFileSync,
} from 'node:fs'
import { request as httpRequest } from 'node:http'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import jpegJs from 'jpeg-js'
import { offerPairing } from '../../../src/edge/pairing.js'
import { imageLimits } from '../../../src/images/image-limits.js'
import { systemClock } from '../../../src/base/clock.js'
import type { PageDesk } from '../../../src/service/page/desk.js'
import { picture } from '../../../src/service/page/picture.js'
import type { Exchange, Site } from '../../../src/service/service.js'
import { HttpRefusal } from '../../../src/service/http/refusal.js'
import {
  PictureQuota, heldBytesMax, picturesMinuteMax,
} from '../../../src/service/page/picture-quota.js'
import { pictureOf } from '../../../src/shots/picture/picture.js'
import { movedClock } from '../../support/clock.js'
import { codeOf } from '../../support/edge/uploading.js'
import { must } from '../../support/must.js'
import { sha256 as shaOf } from '../../support/sha256.js'
import { greyPng, image } from '../../support/png.js'
import { askPage, codeIn, openPage } from '../../support/service/paging.js'
import { serving, type Got, type Serving } from '../../support/service/serving.js'
import { t } from '../../support/tests-in-slices.js'
import { until } from '../../support/until.js'
import type { Teardown } from '../../world/place.js'
import { World } from '../../world/world.js'

const pathOf = (id: string): string => `/api/shots/observations/${id}/picture`
const codeIs = (got: Got): unknown => got.json().error?.code

/** A page over a folder with these files, scanned. */
const shown = async (t: Teardown, files: Readonly<Record<string, Buffer>>) => {
  const clock = movedClock()
  const world = await World.in(t, { clock }).state().session().images()
  if (Object.keys(files).some((name) => name.includes('/'))) {
    must(await world.run(['shots', 'config', 'set', '--recursive', 'on']))
  }
  for (const [name, bytes] of Object.entries(files)) {
    mkdirSync(join(world.folder, name, '..'), { recursive: true })
    world.file(name, bytes)
  }
  must(await world.run(['shots', 'scan']))
  const at = await serving(t, world, { page: world.session().root.root_id })
  const token = await openPage(at)
  const idOf = (name: string): string => world.rows()
    .find(({ paths }) => paths[0]?.name.text === name)?.observation_id ?? ''
  const ask = (name: string, headers: Readonly<Record<string, string>> = {}): Promise<Got> =>
    askPage(at, 'GET', pathOf(idOf(name)), { token, headers })
  return { world, at, clock, token, idOf, ask }
}

t.test('a picture is the whole file, as it is, and its reply is kept by nobody', async (t) => {
  const jpeg = jpegJs.encode({ width: 64, height: 48, data: Buffer.alloc(64 * 48 * 4, 90) }).data
  const { ask } = await shown(t, { '1.png': image(1), 'page.jpg': jpeg })
  for (const [name, bytes, type] of [
    ['1.png', image(1), 'image/png'], ['page.jpg', jpeg, 'image/jpeg'],
  ] as const) {
    const got = await ask(name)
    t.equal(got.status, 200)
    t.ok(got.bytes.equals(bytes), name)
    t.hasStrict(got.headers, {
      'content-type': type, 'content-length': String(bytes.length), 'cache-control': 'no-store',
      'x-content-type-options': 'nosniff', 'content-disposition': 'attachment',
      'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
      'cross-origin-resource-policy': 'same-origin', 'referrer-policy': 'no-referrer',
      'set-cookie': undefined, etag: undefined, 'last-modified': undefined,
    })
  }
})

/** Another owner, logged in; gives the run token of a page of theirs. */
const pageOfBob = async (world: Awaited<ReturnType<typeof shown>>['world'], at: Serving) => {
  const file = world.place.write('passphrase', 'correct horse')
  must(await world.run(['principal', 'add', 'bob', '--passphrase-file', file]))
  must(await world.run(['login', '--owner', 'bob', '--passphrase-file', file]))
  const { open_file: offered } = (await at.ask('POST', '/api/page/offers')).json()
  const opened = await askPage(at, 'POST', '/api/page/open', { body: { code: codeIn(offered) } })
  return String(opened.json().token)
}

t.test('S-195 no other owner, no device, no session token and nobody without one gets a byte of a picture', async (t) => {
  const { world, at, token, idOf, ask } = await shown(t, { '1.png': image(1) })
  const path = pathOf(idOf('1.png'))
  const gov = { ...world.gov, store: world.open('write') }
  const { pairing } = await offerPairing(gov, world.session(), at.started.identity)
  const { credential } = (await at.ask('POST', '/api/edge/pairings', {
    token: null, body: { code: codeOf(pairing), device_name: 'camera' },
  })).json()
  const refused = async (status: number, code: string, got: Got, who: string): Promise<void> => {
    t.strictSame([got.status, codeIs(got)], [status, code], who)
    t.equal(got.headers['content-type'], 'application/json', who)
  }
  for (const [who, wrong] of Object.entries({
    nobody: null, session: at.token(), device: String(credential), made: `spr_${'A'.repeat(43)}`,
  })) {
    await refused(401, 'page_token_refused', await askPage(at, 'GET', path, { token: wrong }), who)
  }
  for (const one of [token, at.token(), String(credential)]) {
    await refused(404, 'no_such_endpoint', await at.ask('GET', path, { token: one }), 'by TLS')
  }
  await refused(401, 'page_token_refused',
    await askPage(at, 'GET', `${path}?token=${token}`), 'in the address')
  await refused(400, 'http_query',
    await askPage(at, 'GET', `${path}?token=${token}`, { token }), 'in the address, too')
  const { name: first } = world.session().principal
  const bob = await pageOfBob(world, at)
  await refused(403, 'not_default_principal',
    await askPage(at, 'GET', path, { token: bob }), 'another owner')
  t.equal((await ask('1.png')).status, 200, 'the owner whom init made has it')
  must(await world.run(['principal', 'disable', first]))
  await refused(401, 'session_ended', await ask('1.png'), 'a disabled owner')
})

t.test('another site, another name of the host and another method get no picture', async (t) => {
  const { at, token, idOf, ask } = await shown(t, { '1.png': image(1) })
  const { port } = new URL(at.started.page?.url ?? '')
  for (const [status, headers] of [
    [421, { Host: `evil.example:${port}` }], [421, { Host: `127.0.0.1.evil.example:${port}` }],
    [403, { Origin: 'https://evil.example' }], [403, { Origin: 'null' }],
    [403, { 'Sec-Fetch-Site': 'cross-site' }], [403, { 'Sec-Fetch-Site': 'same-site' }],
    [403, { 'X-Forwarded-For': '127.0.0.1' }],
    [403, {
      'Sec-Fetch-Site': 'cross-site', 'Sec-Fetch-Mode': 'navigate', 'Sec-Fetch-Dest': 'document',
    }],
  ] as const) t.equal((await ask('1.png', headers)).status, status, JSON.stringify(headers))
  for (const method of ['HEAD', 'POST', 'PUT', 'OPTIONS']) {
    t.equal((await askPage(at, method, pathOf(idOf('1.png')), { token })).status, 405, method)
  }
  for (const id of ['obs_none', '..%2f..%2fetc%2fpasswd', '1.png', `${idOf('1.png')}x`]) {
    const got = await askPage(at, 'GET', pathOf(id), { token })
    t.ok(got.status === 404 || got.status === 400, `${id}: ${got.status}`)
  }
})

t.test('what is gone, was changed, or lies where a link leads is told, and no byte of it is sent', async (t) => {
  const { world, ask } = await shown(t, {
    'gone.png': image(1), 'changed.png': image(2), 'link.png': image(3), 'sub/deep.png': image(4),
    'cut.png': image(5), 'folder.png': image(6), 'back.png': image(7),
  })
  const at = (name: string): string => join(world.folder, name)
  const outside = world.place.path('private')
  mkdirSync(outside)
  rmSync(at('gone.png'))
  writeFileSync(at('changed.png'), image(9))
  writeFileSync(join(outside, 'link.png'), image(3))
  writeFileSync(join(outside, 'deep.png'), image(4))
  rmSync(at('link.png'))
  symlinkSync(join(outside, 'link.png'), at('link.png'))
  renameSync(at('sub'), at('moved'))
  symlinkSync(outside, at('sub'))
  writeFileSync(at('cut.png'), image(5).subarray(0, 60))
  rmSync(at('folder.png'))
  mkdirSync(at('folder.png'))
  for (const [name, status, code] of [
    ['gone.png', 404, 'picture_gone'], ['changed.png', 409, 'picture_changed'],
    ['link.png', 409, 'picture_changed'], ['sub/deep.png', 409, 'picture_changed'],
    ['cut.png', 409, 'picture_changed'], ['folder.png', 409, 'picture_changed'],
  ] as const) {
    const got = await ask(name)
    t.strictSame([got.status, codeIs(got)], [status, code], name)
    t.notMatch(got.bytes.toString(), /private|\.png/, 'no name and no path is told')
  }
  t.equal((await ask('back.png')).status, 200)
  renameSync(world.folder, `${world.folder}-moved`)
  t.equal(codeIs(await ask('back.png')), 'picture_gone')
  symlinkSync(`${world.folder}-moved`, world.folder)
  t.not((await ask('back.png')).status, 200, 'the folder itself leads nowhere else')
})

t.test('a picture of another folder, of a subfolder that is left out, or put away is not shown', async (t) => {
  const { world, ask, idOf } = await shown(t, { 'sub/1.png': image(1), '2.png': image(2) })
  const config = async (...flags: string[]) =>
    must(await world.run(['shots', 'config', 'set', ...flags]))
  await config('--recursive', 'off')
  t.strictSame([codeIs(await ask('sub/1.png')), (await ask('2.png')).status],
    ['picture_not_selected', 200])
  const other = world.place.path('other')
  mkdirSync(other)
  await config('--folder', other)
  t.equal(codeIs(await ask('2.png')), 'picture_elsewhere')
  must(await world.run(['shots', 'clear-stale', '--yes']))
  await config('--folder', world.folder)
  t.not(world.rows().find(({ observation_id: id }) => id === idOf('2.png'))?.archived_at, null)
  t.equal(codeIs(await ask('2.png')), 'picture_archived')
})

t.test('a picture that no model may see is shown to its owner: nothing of it leaves', async (t) => {
  const { world, ask } = await shown(t, { '1.png': image(1) })
  t.equal(world.rows()[0]?.analysis_status, 'blocked')
  t.equal((await ask('1.png')).status, 200)
})

t.test('while files are exchanged all the time each picture that is sent has the hash of its row', async (t) => {
  const { world, ask } = await shown(t, { '1.png': image(1) })
  const [row] = world.rows()
  const path = join(world.folder, '1.png')
  let goesOn = true
  const exchanging = (async () => {
    for (let turn = 0; goesOn; turn += 1) {
      writeFileSync(turn % 3 === 0 ? path : `${path}.next`, image(turn % 2 === 0 ? 1 : 9))
      if (turn % 3 !== 0) renameSync(`${path}.next`, path)
      await new Promise((resolve) => setImmediate(resolve))
    }
  })()
  const seen = new Set<number>()
  for (let turn = 0; turn < 60; turn += 1) {
    const got = await ask('1.png')
    seen.add(got.status)
    if (got.status === 200) t.equal(shaOf(got.bytes), row?.sha256)
    else t.match(codeIs(got), /^picture_(changed|gone)$/)
  }
  goesOn = false
  await exchanging
  t.ok(seen.has(200), 'some were sent')
})

t.test('what has more pixels than 64 million by its header, none, or no end is not sent', async (t) => {
  const { world } = await shown(t, { '1.png': image(1) })
  const [row] = world.rows()
  if (row === undefined) throw new Error('no row')
  const given = (name: string, bytes: Buffer): typeof row => {
    world.file(name, bytes)
    const path = { name: { text: name, bytes_base64: null }, modified_at: row.captured_at }
    return { ...row, sha256: shaOf(bytes), paths: [path] }
  }
  const huge = Buffer.from(image(2))
  huge.writeUInt32BE(8_001, 16)
  huge.writeUInt32BE(8_000, 20)
  const nowMs = Date.parse(row.captured_at) + 60_000
  const refused = (name: string, bytes: Buffer, reason: string): void => {
    const wanted = { code: 'picture_refused', reason }
    t.throws(() => pictureOf(given(name, bytes), nowMs, false), wanted, name)
  }
  refused('huge.png', huge, 'image_too_many_pixels')
  refused('text.png', Buffer.from('no picture at all'), 'image_not_an_image')
  refused('none.png', image(3).subarray(0, 20), 'image_damaged')
  const tooLong = { text: 'x'.repeat(300), bytes_base64: null }
  const unreadable = { ...row, paths: [{ name: tooLong, modified_at: row.captured_at }] }
  t.throws(() => pictureOf(unreadable, nowMs, false), { code: 'picture_unreadable' })
  const large = Buffer.concat([image(4), Buffer.alloc(imageLimits.bytesMax)])
  t.throws(() => pictureOf(given('large.png', large), nowMs, false), { code: 'picture_changed' })
  const fits = pictureOf(given('fits.png', image(5)), nowMs, false)
  t.ok(image(5).equals(fits.bytes))
})

/** Status, code and wait of a refusal; null where there is none. */
const refusedBy = (bound: PictureQuota, nowMs: number): readonly unknown[] | null => {
  try {
    bound.begin(nowMs).end()
    return null
  } catch (error) {
    if (!(error instanceof HttpRefusal)) throw error
    return [error.status, error.error.code, error.headers['Retry-After']]
  }
}

t.test('whoever may see no picture uses up nothing of what the owner may see', async (t) => {
  const { world, at, idOf, ask } = await shown(t, { '1.png': image(1) })
  const bob = await pageOfBob(world, at)
  let last = 200
  for (let n = 0; n <= picturesMinuteMax && last === 200; n += 1) {
    last = (await ask('1.png')).status
  }
  t.equal(last, 429)
  const got = await askPage(at, 'GET', pathOf(idOf('1.png')), { token: bob })
  t.strictSame([got.status, codeIs(got)], [403, 'not_default_principal'])
})

t.test('so many pictures a minute are given, and then one for each that is a minute old', (t) => {
  const bound = new PictureQuota()
  for (let n = 0; n < picturesMinuteMax; n += 1) bound.begin(n).end()
  t.strictSame(refusedBy(bound, 1_000), [429, 'pictures_too_many', '59'])
  t.equal(refusedBy(bound, 60_000), null)
  t.strictSame(refusedBy(bound, 60_000), [429, 'pictures_too_many', '1'])
  t.equal(bound.held, 0, 'what was refused holds nothing')
  t.end()
})

t.test('so many bytes are held at one time, first by what a picture may have, then by what it has', (t) => {
  const bound = new PictureQuota()
  const all = Array.from({ length: 4 }, () => bound.begin(0))
  t.equal(bound.held, heldBytesMax)
  t.strictSame(refusedBy(bound, 0), [429, 'pictures_under_way', '1'])
  all[0]?.has(1_000)
  t.equal(bound.held, heldBytesMax - imageLimits.bytesMax + 1_000)
  t.strictSame(refusedBy(bound, 0), [429, 'pictures_under_way', '1'])
  all[1]?.end()
  all[1]?.end()
  t.equal(refusedBy(bound, 0), null)
  for (const one of all) one.end()
  t.equal(bound.held, 0)
  t.end()
})

t.test('more than the bound at one time are refused in plain words, and none waits for good', async (t) => {
  const { ask } = await shown(t, { '1.png': image(1) })
  const all = await Promise.all(Array.from({ length: 20 }, () => ask('1.png')))
  const codes = all.map((got) => (got.status === 200 ? 'sent' : String(codeIs(got))))
  t.ok(codes.filter((code) => code === 'sent').length >= 4, codes.join(' '))
  t.strictSame(new Set(codes), new Set(['sent', 'pictures_under_way']))
  for (const got of all) t.ok(got.status === 200 ? got.bytes.equals(image(1)) : got.status === 429)
  t.equal((await ask('1.png')).status, 200, 'afterwards there is room')
})

/** A client that asks for a picture and takes nothing of it. */
const deaf = (at: Serving, path: string, token: string): Promise<Socket> => {
  const url = new URL(at.started.page?.url ?? '')
  return new Promise((resolve) => {
    const socket = connect(Number(url.port), '127.0.0.1', () => {
      socket.pause()
      socket.write(`GET ${path} HTTP/1.1\r\nHost: ${url.host}\r\n`
        + `Authorization: Bearer ${token}\r\n\r\n`)
      resolve(socket)
    })
    socket.on('error', () => undefined)
  })
}

t.test('clients that take nothing hold so many bytes at most, and give them back when they go', async (t) => {
  // Large enough that no buffer of a socket takes it whole.
  const noise = greyPng(3_600, 3_600, (x, y) => (x * 31 + y * 17) & 0xff, 0)
  t.ok(noise.length > 12_000_000 && noise.length < imageLimits.bytesMax)
  const { at, token, idOf, ask } = await shown(t, { '1.png': noise, '2.png': image(2) })
  const sockets: Socket[] = []
  t.teardown(() => sockets.forEach((one) => one.destroy()))
  let refused = ''
  for (let n = 0; n < 8 && refused === ''; n += 1) {
    sockets.push(await deaf(at, pathOf(idOf('1.png')), token))
    await new Promise((resolve) => setTimeout(resolve, 150))
    const got = await ask('2.png')
    if (got.status !== 200) refused = String(codeIs(got))
  }
  t.equal(refused, 'pictures_under_way')
  t.ok(sockets.length <= 7, `${sockets.length} clients`)
  for (const one of sockets) one.destroy()
  await until('room again', async () => (await ask('2.png')).status === 200)
})

t.test('nothing of a picture is written anywhere but where it lay', async (t) => {
  const { world, ask, at, token, idOf } = await shown(t, { '1.png': image(1) })
  const everything = (dir: string): string[] =>
    readdirSync(dir, { recursive: true, withFileTypes: true })
      .filter((one) => one.isFile()).map((one) => join(one.parentPath, one.name))
  const top = join(world.place.stateDir, '..')
  const filesNow = (): Map<string, string> => new Map(everything(top)
    .filter((path) => !/last-use|\/run\//.test(path))
    .map((path) => [path, shaOf(readFileSync(path))]))
  const before = filesNow()
  for (let n = 0; n < 3; n += 1) t.equal((await ask('1.png')).status, 200)
  t.strictSame([...filesNow()], [...before])
  const middle = image(1).subarray(60, 92)
  const holding = everything(top).filter((path) => readFileSync(path).includes(middle))
  t.strictSame(holding, [join(world.folder, '1.png')])
  await new Promise<void>((resolve) => {
    // A client that goes away in the middle of its request.
    const { port } = new URL(at.started.page?.url ?? '')
    const headers = { Authorization: `Bearer ${token}` }
    const request = httpRequest({ port, path: pathOf(idOf('1.png')), headers })
    request.on('error', () => resolve()).end(() => request.destroy())
  })
  t.equal((await ask('1.png')).status, 200)
})

t.test('a thread that fails leaves no place taken', async (t) => {
  const pictures = new PictureQuota()
  const desk = { keys: { rootOf: () => 'root' }, pictures } as unknown as PageDesk
  const exchange = {
    request: { headers: { authorization: 'Bearer x' } }, response: { destroyed: false },
    params: { observation_id: 'obs_1' }, query: new URLSearchParams(),
  } as unknown as Exchange
  const site = {
    held: { use: async () => undefined }, world: { clock: systemClock },
    threads: { perform: async () => { throw new Error('the thread ended') } },
  } as unknown as Site
  await t.rejects(picture(desk).answer(exchange, site), { message: 'the thread ended' })
  t.equal(pictures.held, 0)
})
