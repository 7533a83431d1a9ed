/**
 * Each set-up form on a pseudo-terminal of 80 columns, as a person meets it: Enter alone and an
 * interrupt in the middle change nothing, whatever was saved before, and what changed while they
 * were thinking is not saved over.
 */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Test } from 'tap'
import {
  columns, converse, keys, needsScript, type Ended, type Step,
} from '../support/cli/pseudo-terminal.js'
import { t } from '../support/tests-in-slices.js'
import { must } from '../support/must.js'
import { forImages } from '../world/gateway.js'
import { allowed } from '../world/images.js'
import type { SignedIn } from '../world/session.js'
import type { Stateful } from '../world/state.js'
import { World, type Placed } from '../world/world.js'

const skip = needsScript
const { enter, down, interrupt, up } = keys

type Here = Placed & Stateful & SignedIn

const unchangedBy = async (
  t: Test, world: Here, words: string, steps: readonly Step[] = [],
): Promise<Ended> => {
  const before = world.view().sequence
  const ended = await converse(t, world, words, steps)
  t.match(ended.shown, '?', `${words} asks`)
  t.equal(world.view().sequence, before, `${words}: nothing was written`)
  t.strictSame(ended.lines.filter((line) => line.length > columns), [], 'every line fits')
  return ended
}

t.test('Enter through `alpha setup` leaves an enabled route and its consent as they are', {
  skip,
}, async (t) => {
  const world = await World.in(t).sandbox().state().session().alpha()
  const { status, shown } = await unchangedBy(t, world, 'alpha setup')
  t.equal(status, 0, shown)
  t.match(shown, 'Nothing changes; nothing is saved.')
  t.equal((await world.run(['alpha', 'show', '--json'])).json().alpha_text.status, 'configured')
})

t.test('Enter through `alpha setup` saves nothing where nothing was saved', { skip }, async (t) => {
  const world = await World.in(t).state().session()
  const { status, shown } = await unchangedBy(t, world, 'alpha setup')
  t.equal(status, 130, shown)
  t.equal((await world.run(['alpha', 'show', '--json'])).json().alpha_text, null)
})

t.test('a No at the end of `alpha setup` loses no answer: Enter takes each of them, and a yes saves them', {
  skip,
}, async (t) => {
  const world = await World.in(t).sandbox().state().session()
  const key = 'MARK-typed-once-0123456789'
  const through = (keyed: string): readonly Step[] => [
    { at: 'Longest wait', keys: enter }, { at: 'Ceiling of all', keys: enter },
    { at: 'Bound for one question', keys: enter }, { at: 'API key', keys: `${keyed}${enter}` },
    { at: 'Enable the capability now', keys: `y${enter}` },
  ]
  const first = [{ at: 'Longest answer', keys: `${down}${enter}` }, ...through(key)]
  const left = await unchangedBy(t, world, 'alpha setup', [
    ...first, { at: 'I acknowledge', keys: enter },
    { at: 'Nothing was changed', keys: `${down}${enter}` },
  ])
  t.equal(left.status, 130, left.shown)
  const { status, shown } = await converse(t, world, 'alpha setup', [
    ...first, { at: 'I acknowledge', keys: enter }, { at: 'Nothing was changed', keys: enter },
    { at: 'Longest answer', keys: enter }, ...through(''),
    { at: 'I acknowledge', keys: `y${enter}` },
  ])
  t.equal(status, 0, shown)
  t.match(shown.replace(/\s+/g, ' '),
    'API key (Enter keeps what you typed; a space clears it)')
  t.notMatch(shown, key, 'the key is not shown')
  const { alpha_text: saved } = await world.json(['alpha', 'show'])
  t.hasStrict(saved, { status: 'configured', max_output_tokens: 128 })
})

t.test('no key on the keyboard shows a secret that is typed, at any form', { skip }, async (t) => {
  const world = await World.in(t).sandbox().state().session()
  const [secret, toggle] = ['not-to-be-seen-1', '\u0014']
  const forms: Record<string, readonly Step[]> = {
    'alpha setup': ['Longest answer', 'Longest wait', 'Ceiling of all', 'Bound for'].map((at) =>
      ({ at, keys: enter })),
    'gateway setup': ['Ceiling of all', 'Slot to set up'].map((at) => ({ at, keys: enter })),
  }
  for (const [words, steps] of Object.entries(forms)) {
    const { shown, status } = await unchangedBy(t, world, words, [
      ...steps,
      { at: 'ey', keys: `${secret}${toggle}` },
      { at: '[input is masked]', keys: interrupt },
    ])
    t.equal(status, 130, shown)
    t.notMatch(shown, secret, words)
  }
})

t.test('with --no-color neither a form nor the picture of a scan has a colour', {
  skip,
}, async (t) => {
  const world = await World.in(t).sandbox().state().session().images()
  const colour = /\u001b\[[0-9;]*m/
  for (const words of ['alpha setup', 'shots setup', 'shots scan']) {
    t.match((await converse(t, world, words)).drawn, colour, `${words}: there are colours`)
    t.notMatch((await converse(t, world, `${words} --no-color`)).drawn, colour, words)
  }
})

t.test('Enter through `codehost connect` stores nothing', { skip }, async (t) => {
  const world = await World.in(t).sandbox().state().session()
  const { status, shown } = await unchangedBy(t, world, 'codehost connect')
  t.not(status, 0, shown)
  t.strictSame((await world.run(['codehost', 'connections', '--json'])).json(), [])
})

for (const words of ['shots setup', 'shots config set']) {
  t.test(`Enter through \`${words}\` leaves analysis, upload and controls as they are`, {
    skip,
  }, async (t) => {
    const world = await World.in(t).sandbox().state().session().gateway(forImages).images(allowed)
    const { status, shown } = await unchangedBy(t, world, words)
    t.equal(status, 0, shown)
    t.match(shown, 'Nothing changes; nothing is saved.')
    const { settings } = (await world.run(['shots', 'config', 'show', '--json'])).json()
    t.hasStrict(settings, { analysis: { value: 'on' }, cloud_upload: { value: 'on' } })
  })
}

t.test('an interrupt in the middle of `shots setup` saves nothing', { skip }, async (t) => {
  const world = await World.in(t).state().session()
  const { status } = await unchangedBy(t, world, 'shots setup', [
    { at: 'Screenshot folder', keys: `${world.place.path('screens')}${enter}` },
    { at: 'Have images analysed', keys: `y${enter}` },
    { at: 'Let whole images leave', keys: interrupt },
  ])
  t.equal(status, 130)
})

t.test('`shots setup` judges the folder as its field is left, and saves what was chosen', {
  skip,
}, async (t) => {
  const world = await World.in(t).state().session()
  const folder = world.place.path('screens')
  const { status, shown, lines } = await converse(t, world, 'shots setup', [
    { at: 'Screenshot folder', keys: `/${enter}` },
    { at: 'root of the file system', keys: `\b${folder}${enter}` },
    { at: 'Have images analysed', keys: `y${enter}` },
    { at: 'Let whole images leave', keys: `y${enter}` },
    { at: 'Refuse fallbacks', keys: `y${enter}` },
    { at: 'Spend in any 24 hours', keys: `${down}${enter}` },
    { at: 'Requests in any 24 hours', keys: enter },
    { at: 'Bound for one image', keys: enter },
    { at: 'While a region keeps changing', keys: enter },
    { at: 'Let jobs renew', keys: enter },
    { at: 'Save this change', keys: `y${enter}` },
  ])
  t.equal(status, 0, shown)
  t.strictSame(lines.filter((line) => line.length > columns), [])
  t.match(shown, 'budget_microusd: not set -> $0.20 (200,000 µUSD)', 'the difference is shown')
  const { settings, folder: saved } = await world.json(['shots', 'config', 'show'])
  t.equal(saved.saved_folder, folder)
  t.hasStrict(settings, {
    analysis: { value: 'on' }, zdr: { value: 'on' }, budget_microusd: { value: 200_000 },
    budget_requests: { value: null }, renew_proof: { value: null },
  })
})

t.test('`shots setup` says at once that a folder is not there, where the saved one is', {
  skip,
}, async (t) => {
  const world = await World.in(t).state().session().images()
  const { status, shown } = await unchangedBy(t, world, 'shots setup', [
    { at: 'Screenshot folder', keys: `/nowhere/x${enter}` },
    { at: 'folder that was given is not there', keys: '\b'.repeat(10) },
    { at: 'Screenshot folder', keys: enter },
  ])
  t.equal(status, 0, shown)
})

t.test('what is blocked after a restore no form calls enabled: it tells the reason, and gives the consent anew', async (t) => {
  const world = await World.in(t).sandbox().state().session().alpha().gateway()
  const copy = world.place.path('copy')
  must(await world.run(['state', 'backup', copy]))
  must(await world.run(['state', 'restore', copy, '--yes']))
  must(await world.run(['login']))
  const terminal = { stdin: true, stdout: true, stderr: true }
  const forms: Record<string, readonly [string, readonly (string | boolean)[]]> = {
    'alpha setup': ['The text capability', ['', '', '', false, 'leave']],
    'gateway setup': ['The gateway', ['keep', 'no other slot', '', '', false, 'leave']],
  }
  for (const [words, [what, answers]] of Object.entries(forms)) {
    const { stderr } = await world.run(words.split(' '), { terminal, answers })
    const told = stderr.replace(/\s+/g, ' ')
    t.match(told, `${what} sends nothing now. The policy is revoked`, words)
    t.notMatch(told, 'stays so', words)
  }
})

t.test('`shots setup` offers a folder of screenshots that is there, and Enter takes none', { skip }, async (t) => {
  const world = await World.in(t).state().session()
  const folder = join(world.place.env['HOME'] as string, 'Pictures', 'Screenshots')
  mkdirSync(folder, { recursive: true })
  const before = world.view().sequence
  const kept = await converse(t, world, 'shots setup', [{ at: 'Screenshots lie in', keys: enter }])
  t.equal(world.view().sequence, before)
  t.match(kept.shown, 'home, Desktop and Downloads themselves are')
  t.match(kept.shown, 'Nothing changes; nothing is saved.')
  const { status, shown } = await converse(t, world, 'shots setup', [
    { at: 'Screenshots lie in', keys: `${up}${enter}` },
    { at: 'Have images analysed', keys: enter },
    { at: 'Save this change', keys: `y${enter}` },
  ])
  t.equal(status, 0, shown)
  t.equal((await world.json(['shots', 'config', 'show'])).folder.saved_folder, folder)
})

t.test('`shots setup` does not save over what changed while the person was thinking', {
  skip,
}, async (t) => {
  const world = await World.in(t).sandbox().state().session().gateway(forImages).images(allowed)
  const { status, shown } = await converse(t, world, 'shots setup', [
    { at: 'Screenshot folder', keys: enter },
    { at: 'Spend in any 24 hours', keys: `${down}${enter}` },
    { at: 'Requests in any 24 hours', keys: enter },
    { at: 'Bound for one image', keys: enter },
    { at: 'While a region keeps changing', keys: enter },
    { at: 'Let jobs renew', keys: enter },
    {
      at: 'Save this change', keys: `y${enter}`,
      meanwhile: () => world.json(['shots', 'config', 'set', '--analysis', 'off']),
    },
  ])
  t.equal(status, 5, shown)
  t.match(shown, 'settings were changed meanwhile')
  const { settings } = (await world.run(['shots', 'config', 'show', '--json'])).json()
  t.hasStrict(settings, { analysis: { value: 'off' } })
  t.not(settings.budget_microusd.value, 200_000)
})

t.test('where nobody can be asked, a form is refused with the flags as its next step', async (t) => {
  const world = await World.in(t).sandbox().state().session()
  const before = world.view().sequence
  const next = {
    'alpha setup': 'sallyport alpha setup --help',
    'gateway setup': 'sallyport gateway setup --help',
    'shots setup': 'sallyport shots setup --help',
    'shots config set': 'sallyport shots setup --help',
  }
  const terminal = { stdin: true, stdout: true, stderr: true }
  for (const [words, command] of Object.entries(next)) {
    const line = [...words.split(' '), '--no-input', '--json']
    const ran = await world.run(line, { terminal })
    t.equal(ran.status, 2, words)
    t.strictSame(ran.error().next.map((one: { command: string }) => one.command), [command], words)
  }
  t.equal(world.view().sequence, before)
})

t.test('Enter through `gateway setup` changes nothing, whether it is set up or not', {
  skip,
}, async (t) => {
  const bare = await World.in(t).sandbox().state().session()
  const none = await unchangedBy(t, bare, 'gateway setup')
  t.equal(none.status, 0, none.shown)
  const world = await World.in(t).sandbox().state().session().gateway()
  const before = await world.json(['gateway', 'show'])
  const all = await unchangedBy(t, world, 'gateway setup')
  t.equal(all.status, 0, all.shown)
  t.match(all.shown, 'Nothing changes; nothing is saved.')
  t.strictSame(await world.json(['gateway', 'show']), before)
})

t.test('Enter through every slot of `gateway setup` changes nothing', { skip }, async (t) => {
  const world = await World.in(t).sandbox().state().session().gateway()
  const before = await world.json(['gateway', 'show'])
  const through = (at: number): Step[] => [
    { at: 'Slot to set up', keys: `${down.repeat(at)}${enter}` },
    { at: 'Model of', keys: enter }, { at: 'Upstream hosts', keys: enter },
    { at: 'Bound for one request', keys: enter }, { at: 'Longest wait', keys: enter },
  ]
  const { status, shown } = await unchangedBy(t, world, 'gateway setup', [
    { at: 'Ceiling of all routes', keys: enter }, ...through(1), ...through(2), ...through(3),
  ])
  t.equal(status, 0, shown)
  t.strictSame(await world.json(['gateway', 'show']), before)
})

const firstSlot = (more: readonly Step[]): readonly Step[] => [
  { at: 'Ceiling of all routes', keys: `${down}${enter}` },
  { at: 'Slot to set up', keys: `${down}${enter}` },
  { at: 'Model of chat', keys: `acme/text-1${enter}` },
  { at: 'must have the form', keys: `${'\b'.repeat(11)}gateway/acme/text-1${enter}` },
  { at: 'Upstream hosts', keys: `acme-host,other-host${enter}` },
  ...more,
]

const toSaving: readonly Step[] = [
  { at: 'Bound for one request', keys: enter },
  { at: 'Longest wait', keys: `${down}${enter}` },
  { at: 'Slot to set up', keys: enter },
  { at: 'Gateway key', keys: `MARK-GATEWAY-KEY-0123456789${enter}` },
  { at: 'Enable the route now', keys: `y${enter}` },
  { at: 'Consent to gateway.chat', keys: `y${enter}` },
]

t.test('A-071 `gateway setup` fills in a first slot by arrow keys, shows it and asks unchecked', {
  skip,
}, async (t) => {
  const world = await World.in(t).sandbox().state().session()
  const { status, shown, lines } = await converse(t, world, 'gateway setup', firstSlot([
    ...toSaving, { at: 'I acknowledge this cloud egress', keys: `y${enter}` },
  ]))
  t.equal(status, 0, shown)
  t.strictSame(lines.filter((line) => line.length > columns), [])
  t.notMatch(shown, 'MARK-GATEWAY-KEY', 'the key is not shown')
  t.match(shown, 'chat.model: not set -> gateway/acme/text-1', 'the difference is')
  t.match(shown, 'Consent to gateway.chat', 'and what is consented to')
  const { gateway } = await world.json(['gateway', 'show'])
  t.hasStrict(gateway, {
    enabled: true, key_present: true, spend_ceiling_microusd: 500_000,
    slots: { chat: {
      model: 'gateway/acme/text-1', upstream_allow: ['acme-host', 'other-host'],
      timeout_seconds: 15, consent_current: true,
    } },
  })
})

t.test('a yes that is left out, or an interrupt, saves nothing of a filled-in gateway', {
  skip,
}, async (t) => {
  const world = await World.in(t).sandbox().state().session()
  const left = await unchangedBy(t, world, 'gateway setup', firstSlot(toSaving))
  t.equal(left.status, 130, left.shown)
  const interrupted = await unchangedBy(t, world, 'gateway setup', firstSlot([
    { at: 'Bound for one request', keys: interrupt },
  ]))
  t.equal(interrupted.status, 130, interrupted.shown)
  t.equal((await world.json(['gateway', 'show'])).gateway, null)
})

t.test('A-064 `gateway setup` saves at the revision that it showed, or not at all', {
  skip,
}, async (t) => {
  const world = await World.in(t).sandbox().state().session().gateway()
  const { status, shown } = await converse(t, world, 'gateway setup', [
    { at: 'Ceiling of all routes', keys: `${down.repeat(3)}${enter}` },
    { at: 'Slot to set up', keys: enter }, { at: 'Gateway key', keys: enter },
    {
      at: 'I acknowledge this cloud egress', keys: `y${enter}`,
      meanwhile: () => world.widen(['--slot', 'chat', '--timeout-seconds', '70']),
    },
  ])
  t.equal(status, 5, shown)
  const { gateway } = await world.json(['gateway', 'show'])
  t.equal(gateway.spend_ceiling_microusd, 1_000_000, 'the ceiling stands')
  t.equal(gateway.slots.chat.timeout_seconds, 70)
})

t.test('a change of a slot names the consent that it ends before it asks for the yes', {
  skip,
}, async (t) => {
  const world = await World.in(t).sandbox().state().session().gateway()
  const { shown, status } = await converse(t, world, 'gateway setup', [
    { at: 'Ceiling of all routes', keys: enter },
    { at: 'Slot to set up', keys: `${down}${enter}` },
    { at: 'Model of chat', keys: `${'\b'.repeat(40)}gateway/acme/chat-2${enter}` },
    { at: 'Upstream hosts', keys: enter },
    { at: 'Bound for one request', keys: enter }, { at: 'Longest wait', keys: enter },
    { at: 'Slot to set up', keys: enter }, { at: 'Gateway key', keys: enter },
    { at: 'Consent to gateway.chat', keys: enter },
    { at: 'I acknowledge this cloud egress', keys: `y${enter}` },
  ])
  t.equal(status, 0, shown)
  const [named, asked] = [shown.indexOf('Consents that this save ends'),
    shown.indexOf('I acknowledge this cloud egress')]
  t.ok(named > 0 && named < asked, 'named first')
  t.match(shown, 'Without a consent nothing is sent for gateway.chat', 'so is what Enter means')
  const { gateway } = await world.json(['gateway', 'show'])
  t.hasStrict(gateway.slots, {
    chat: { model: 'gateway/acme/chat-2', consent_current: false },
    report: { consent_current: true },
  }, 'no new consent was marked')
})
