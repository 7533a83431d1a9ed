/**
 * The page's own program; it runs in a browser and nowhere else. The run token lives in a variable
 * of it and is gone with the tab; nothing is stored. What comes from the service is put there as
 * text, never as markup. It asks anew while somebody can see it; that is no use of the session.
 */
import type { overviewShow } from '../../fabric/overview/overview-contract.js'
import { act, actsSoFar, whenEnded } from './acting.js'
import { ask, ended, isGood, isOpen, keepToken, messageOf, wordsOf, type Answer } from './asking.js'
import type { pageOpen } from './page-contract.js'
import type { Control, Dialog, Form, Part } from './browser.js'
import { beginDay, hideDay, showDay, showDayAnew } from './day-view.js'
import { at, browser, fill, make, onSubmit, say, terms } from './parts.js'
import { beginPictures, hidePictures } from './picture-view.js'
import { ago, bytes, day, dollars, secondsBetween, span, timeOfDay, wordly } from './words.js'

type Overview = ReturnType<typeof overviewShow.document>
type Opened = ReturnType<typeof pageOpen.document>
type Device = Overview['devices'][number]
type Consent = Overview['consents'][number]

const { document, location, history, navigator } = browser

const everyMs = 10_000

/** What can be typed, as it is told before the service has told it for its state. */
let commands: Opened['commands'] = {
  login: 'sallyport login', open: 'sallyport serve --open', pair: 'sallyport edge pair',
  set_up: 'sallyport setup',
}
/** Name of the state; empty where it has none. */
let name = ''
let timer: ReturnType<typeof setTimeout> | undefined

/** The name comes first: a tab shows the beginning of a title. */
const brand = (): string => (name === '' ? 'Sallyport' : `${name} - Sallyport`)

const showWaiting = ({ waiting }: Overview): void => {
  // What is shown is counted, as `sallyport status` does, and not what each of them counts.
  const count = waiting.length
  say('waiting-count', String(count))
  at('waiting-count').classList.toggle('none', count === 0)
  document.title = count === 0 ? brand() : `(${count}) ${brand()}`
  if (waiting.length === 0) {
    return fill('waiting', [make('li', { text: 'Nothing waits for you.', name: 'none' })])
  }
  fill('waiting', waiting.map(({ text, command }) => {
    const copy = make('button', { text: 'Copy', name: 'quiet' }) as Control
    copy.type = 'button'
    copy.setAttribute('aria-label', `Copy ${command}`)
    copy.addEventListener('click', () => void navigator.clipboard?.writeText(command))
    return make('li', {}, make('p', { text }),
      make('div', { name: 'command' }, make('code', { text: command }), copy))
  }))
}

const showFolder = ({ folder, checked_at: now }: Overview): void => {
  const age = folder.newest_item_age_seconds
  say('newest', age === null ? 'None yet' : `${span(age)} old`)
  const scanned = folder.last_scan_at === null
    ? 'never' : `${wordly(folder.local_scan_status)}, ${ago(folder.last_scan_at, now)}`
  fill('folder', terms([
    ['Folder', folder.configured_folder ?? 'none that may be used'],
    ['Images in it', folder.image_count === null ? 'not counted' : String(folder.image_count)],
    ['Last scan', scanned],
    ...(folder.last_scan_reason === null
      ? [] : [['Reason', wordly(folder.last_scan_reason)] as const]),
    ...(folder.failure === null ? [] : [['Not told', wordly(folder.failure)] as const]),
  ]))
  const field = at<Control>('folder-path')
  field.disabled = !folder.editable
  at<Control>('folder-save').disabled = !folder.editable
  const shown = (folder.editable ? folder.saved_folder ?? folder.configured_folder
    : folder.configured_folder) ?? ''
  // What a person types is not written over.
  if (document.activeElement !== field && field.value === (field.dataset['shown'] ?? '')) {
    field.value = shown
    field.dataset['shown'] = shown
  }
  if (!folder.editable) {
    say('folder-told', 'Not editable: SVC_SCREENSHOT_FOLDER is set where the service runs.')
  }
}

const showSpend = ({ spend, day: today }: Overview): void => {
  const bar = at('spend-bar')
  bar.hidden = spend === null
  if (spend === null) {
    say('spend', 'No ceiling yet')
    return fill('spend-parts', terms([['Set up', commands.set_up]]))
  }
  const { ceiling_microusd: ceiling, settled_microusd: spent, held_microusd: held } = spend
  const { unknown_microusd: unknown, available_microusd: free } = spend
  fill('spend', [
    make('span', { text: dollars(spent) }), make('small', { text: ` of ${dollars(ceiling)}` }),
  ])
  const whole = Math.max(ceiling, spent + held + unknown, 1)
  const label = `spent ${dollars(spent)}, held ${dollars(held)}, unknown ${dollars(unknown)}, `
    + `free ${dollars(free)}`
  bar.setAttribute('aria-label', label)
  bar.replaceChildren(...([['spent', spent], ['held', held], ['unknown', unknown]] as const)
    .map(([name, amount]) => {
      const part = make('span', { name })
      part.style.width = `${(amount / whole) * 100}%`
      return part
    }))
  const requests = today.budget_requests === null
    ? String(today.requests ?? 0) : `${today.requests ?? 0} of ${today.budget_requests}`
  const disputes = today.disputed_charges ?? 0
  const disputed = disputes === 0 ? ''
    : `, ${disputes} ${disputes === 1 ? 'charge' : 'charges'} disputed`
  fill('spend-parts', terms([
    ['Spent', dollars(spent), 'spent'],
    ['Held', dollars(held), 'held'],
    ['Unknown', dollars(unknown), 'unknown'],
    ['Free', dollars(free), 'free'],
    ...(today.budget_microusd === null ? [] : [[
      'Last 24 hours',
      `${dollars((today.settled_microusd ?? 0) + (today.held_microusd ?? 0))} of `
        + `${dollars(today.budget_microusd)}, ${requests} requests${disputed}`,
    ] as const]),
  ]))
}

const leftOf = ({ expires_at: ends }: Consent, now: string): Part => {
  if (ends === null) return make('p', { text: 'until you take it back', name: 'left soft' })
  const left = secondsBetween(now, ends)
  return make('p', {
    text: `${span(left)} left, until ${day(ends)}`, name: left < 600 ? 'left soon' : 'left',
  })
}

const showConsents = ({ consents, checked_at: now, policy }: Overview): void => {
  at<Control>('stop-all').disabled = policy.state === 'revoked'
  if (consents.length === 0) {
    return fill('consents', [make('li', { text: 'None: nothing may leave.', name: 'none' })])
  }
  fill('consents', consents.map((one) => {
    const about = one.kind === 'codehost' ? `on ${one.repository ?? ''}` : 'model route'
    return make('li', {},
      make('div', {}, make('h3', { text: one.purpose }),
        make('p', { text: `${about}, given ${day(one.granted_at)}`, name: 'soft' })),
      leftOf(one, now))
  }))
}

const evictedText = ({ spool_evictions: count }: Device): string =>
  (count === null ? 'none told' : String(count))

/** As lists on a terminal show it; names are the devices' own, and may be the same. */
const shortId = ({ device_id: id }: Device): string => id.replace(/_[^_]*(.{8})$/, '_$1')

const deviceRow = (device: Device, now: string): Part => {
  const ended = device.revoked ? `ended (${wordly(device.ended_reason ?? 'revoked')})` : 'paired'
  const row = make('li', {},
    make('div', {}, make('h3', { text: device.device_name }),
      make('p', { text: `${ended}, since ${day(device.paired_at)}`, name: 'soft' }),
      make('code', { text: shortId(device) })))
  row.id = device.device_id
  if (!device.revoked) {
    const button = make('button', { text: 'Revoke', name: 'danger' }) as Control
    button.type = 'button'
    button.setAttribute('aria-label', `Revoke ${device.device_name}, ${shortId(device)}`)
    button.addEventListener('click', () => void revokeDevice(device))
    row.append(button)
  }
  const facts = make('dl', { name: 'facts' }, ...([
    ['Last upload', ago(device.last_upload_at, now)],
    ['Last sequence', String(device.last_sequence)],
    ['Stored', `${device.stored.items}, ${bytes(device.stored.bytes)}`],
    ['Evicted from its spool', evictedText(device)],
  ] as const).map((pair) => make('div', {}, ...terms([pair]))))
  row.append(facts)
  return row
}

const showDevices = ({ devices, checked_at: now }: Overview): void => fill('devices',
  devices.length === 0
    ? [make('li', { text: `None. Pair one: ${commands.pair}`, name: 'none' })]
    : devices.map((device) => deviceRow(device, now)))

const show = (overview: Overview): void => {
  at('entry').hidden = true
  at('desk').hidden = false
  at('desk').classList.remove('stale')
  at('tools').hidden = false
  say('told', '')
  say('who', `${name === '' ? '' : `${name}: `}${overview.owner}, ${overview.profile}`)
  for (const part of [showWaiting, showFolder, showSpend, showConsents, showDevices]) {
    part(overview)
  }
  say('foot', `As of ${timeOfDay(overview.checked_at)}. `
    + `Looking keeps no session alive: this one ends on ${day(overview.session_ends_at)} `
    + 'unless it is used.')
}

/** Nothing of what was shown stays; the way back is told. */
const showEntry = (why: string): void => {
  clearTimeout(timer)
  keepToken(null)
  at('desk').hidden = true
  at('tools').hidden = true
  for (const id of ['who', 'foot', 'newest', 'spend']) say(id, '')
  for (const id of ['waiting', 'folder', 'spend-parts', 'consents', 'devices']) fill(id, [])
  at<Control>('folder-path').value = ''
  document.title = brand()
  hideDay()
  hidePictures()
  at<Dialog>('confirm').close()
  at('entry').hidden = false
  say('told', why)
}

const endedText = (answer: Answer | null): string =>
  `${messageOf(answer)} Log in (${commands.login}), then open the page anew: ${commands.open}`

const refresh = async (): Promise<void> => {
  clearTimeout(timer)
  if (!isOpen()) return
  const before = actsSoFar()
  const answer = await ask('GET', '/api/overview')
  if (!isOpen() || before !== actsSoFar()) return
  if (isGood(answer)) show(answer.body as Overview)
  else if (ended(answer)) return showEntry(endedText(answer))
  else {
    at('desk').classList.add('stale')
    say('told', `${wordsOf(answer)} What is shown is from before.`)
  }
  if (!document.hidden) timer = setTimeout(() => void refresh(), everyMs)
}

whenEnded((answer) => showEntry(endedText(answer)))

const open = async (code: string): Promise<void> => {
  const answer = await act('POST', '/api/page/open', { code })
  if (isGood(answer)) {
    const opened = answer.body as Opened
    keepToken(opened.token)
    ;({ commands } = opened)
    name = opened.at ?? ''
    at<Form>('entry-form').reset()
    await Promise.all([refresh(), showDay(null)])
    at('main').focus()
  } else if (!ended(answer)) showEntry(wordsOf(answer))
}

interface Scanned {
  readonly scanned: number
  readonly ingested: number
  readonly duplicate: number
  readonly suppressed: number
  readonly rejected: number
  readonly deferred: number
}

const scannedText = (got: Scanned): string => `Looked at ${got.scanned}: ${got.ingested} new, `
  + `${got.duplicate} known, ${got.suppressed} alike, ${got.rejected} rejected, `
  + `${got.deferred} left for later.`

/** One call for one click: while it is under way there is nothing to click. */
const scan = async (): Promise<void> => {
  const button = at<Control>('scan')
  if (button.disabled) return
  button.disabled = true
  say('scan-told', 'Scanning…')
  const answer = await act('POST', '/api/observer/screenshot-folder/scan', {})
  say('scan-told', isGood(answer) ? scannedText(answer.body as Scanned) : wordsOf(answer))
  button.disabled = false
  button.focus()
  await Promise.all([refresh(), ...isGood(answer) ? [showDayAnew()] : []])
}

const saveFolder = async (): Promise<void> => {
  const field = at<Control>('folder-path')
  const answer = await act('PUT', '/api/settings/screen-analysis', {
    screenshot_folder: field.value,
  })
  if (isGood(answer)) field.dataset['shown'] = field.value
  say('folder-told', isGood(answer) ? 'Saved.' : wordsOf(answer))
  await refresh()
}

/** Asks; the box starts unchecked, and nothing goes on until it is checked. */
const confirmed = (title: string, text: string, label: string, yes: string): Promise<boolean> => {
  const dialog = at<Dialog>('confirm')
  const [box, button] = [at<Control>('confirm-check'), at<Control>('confirm-yes')]
  say('confirm-title', title)
  say('confirm-text', text)
  say('confirm-label', label)
  say('confirm-yes', yes)
  box.checked = false
  button.disabled = true
  dialog.returnValue = 'no'
  dialog.showModal()
  return new Promise((resolve) => dialog.addEventListener(
    'close', () => resolve(dialog.returnValue === 'yes' && box.checked), { once: true }))
}

const stopAll = async (): Promise<void> => {
  const yes = await confirmed(
    'Stop every route?',
    'No model is asked any more and nothing is written to a code host, until it is set up anew. '
      + 'What had left before is still billed.',
    'Yes, end every consent: to model routes, and to writes to a code host.', 'Stop every route')
  if (!yes) return
  const answer = await act('POST', '/api/policy/revoke')
  await refresh()
  if (!isGood(answer) && isOpen()) say('told', wordsOf(answer))
}

const revokeDevice = async (device: Device): Promise<void> => {
  const yes = await confirmed(
    `End the pairing of ${device.device_name}, ${shortId(device)}?`,
    'An upload that is under way ends at its next byte. What it had sent stays for you to read.',
    'Yes, this device may send nothing more.', 'Revoke')
  if (!yes) return
  const answer = await act('POST', `/api/edge/devices/${device.device_id}/revoke`)
  await refresh()
  if (!isGood(answer) && isOpen()) say('told', wordsOf(answer))
}

/** The report has a tab of its own, which is opened within the click and led there afterwards. */
const openDay = async (): Promise<void> => {
  const tab = browser.open('', '_blank')
  const answer = await act('POST', '/api/page/report')
  if (tab === null || !isGood(answer)) {
    tab?.close()
    say('told', tab === null ? 'The browser opened no tab for it.' : wordsOf(answer))
    return
  }
  tab.opener = null
  tab.location.replace((answer.body as { readonly path: string }).path)
  await refresh()
}

const close = async (): Promise<void> => {
  await act('POST', '/api/page/close')
  showEntry(`This page is closed. Open it anew: ${commands.open}`)
}

beginDay()
beginPictures()
at('scan').addEventListener('click', () => void scan())
at('stop-all').addEventListener('click', () => void stopAll())
at('day').addEventListener('click', () => void openDay())
at('close').addEventListener('click', () => void close())
at('confirm-check').addEventListener('change', () => {
  at<Control>('confirm-yes').disabled = !at<Control>('confirm-check').checked
})
onSubmit('folder-form', () => void saveFolder())
onSubmit('entry-form', () => void open(at<Control>('code').value.trim()))
document.addEventListener('visibilitychange', () => {
  if (!document.hidden) void refresh()
})

const given = /^#([A-Za-z0-9_-]{22})$/.exec(location.hash)?.[1]
if (given === undefined) at('entry').hidden = false
else {
  // It works once; all the same it does not stay in the address.
  history.replaceState(null, '', '/')
  void open(given)
}
