/**
 * Looking at the pictures of an episode, one after the other. Each is asked for when its turn
 * comes, drawn to a canvas and let go: no picture has an address, and none is kept. One that cannot
 * be had says why in its place.
 */
import { lookBytes } from './acting.js'
import { isGood, wordsOf } from './asking.js'
import type { Bytes, Canvas, Control, Dialog, KeyPress } from './browser.js'
import { at, browser, say } from './parts.js'

/** One picture of a row of them. */
export interface Seen {
  readonly observationId: string
  /** What is said of it, without the picture. */
  readonly caption: string
}

let row: readonly Seen[] = []
let place = 0
/** Whether each point of a picture is shown, in a part that can be moved. */
let isFull = false
/** Raised whenever something else is to be shown: what was asked for before is dropped. */
let turn = 0

const canvasOf = (): Canvas => at<Canvas>('picture')

/** Nothing of a picture stays in the canvas. */
const clear = (): void => {
  const canvas = canvasOf()
  canvas.width = 0
  canvas.height = 0
  canvas.hidden = true
}

/** Room that a dialog leaves for a picture, in points of the screen. */
const roomNow = (): { readonly width: number, readonly height: number } => ({
  width: Math.max(240, browser.innerWidth - 64), height: Math.max(200, browser.innerHeight - 220),
})

const draw = async (picture: Bytes, isWanted: () => boolean): Promise<void> => {
  const bitmap = await browser.createImageBitmap(picture)
  if (isWanted()) {
    const canvas = canvasOf()
    const room = roomNow()
    const whole = 1 / browser.devicePixelRatio
    const fits = isFull ? whole
      : Math.min(room.width / bitmap.width, room.height / bitmap.height)
    // Scaled down to what the screen can show, and never up.
    const scale = Math.min(1, fits * browser.devicePixelRatio)
    canvas.width = Math.max(1, Math.round(bitmap.width * scale))
    canvas.height = Math.max(1, Math.round(bitmap.height * scale))
    const shown = Math.min(fits, whole)
    canvas.style.width = `${Math.max(1, Math.round(bitmap.width * shown))}px`
    const context = canvas.getContext('2d')
    if (context !== null) {
      context.imageSmoothingQuality = 'high'
      context.drawImage(bitmap, 0, 0, canvas.width, canvas.height)
    }
    canvas.hidden = false
  }
  bitmap.close()
}

/** What was asked for last, and whether anything is on its way: one picture at a time. */
let shownTurn = 0
let isLoading = false

const loadOne = async ({ observationId }: Seen, isWanted: () => boolean): Promise<void> => {
  const answer = await lookBytes(`/api/shots/observations/${observationId}/picture`)
  if (!isWanted()) return
  clear()
  if (!isGood(answer)) return say('viewer-told', wordsOf(answer))
  try {
    await draw(answer.body as Bytes, isWanted)
    if (isWanted()) say('viewer-told', '')
  } catch {
    if (isWanted()) say('viewer-told', 'This browser cannot show the picture.')
  }
}

/** Loads what is wanted now; what was passed over meanwhile is never asked for. */
const load = async (): Promise<void> => {
  if (isLoading) return
  isLoading = true
  while (shownTurn !== turn) {
    const mine = turn
    const seen = row[place]
    if (seen !== undefined) await loadOne(seen, () => mine === turn)
    shownTurn = mine
  }
  isLoading = false
}

const showPlace = (): void => {
  turn += 1
  const seen = row[place]
  if (seen === undefined) return
  say('viewer-place', `${place + 1} of ${row.length}`)
  say('viewer-caption', seen.caption)
  canvasOf().setAttribute('aria-label', seen.caption)
  at<Control>('viewer-back').disabled = place === 0
  at<Control>('viewer-on').disabled = place === row.length - 1
  say('viewer-told', 'Loading…')
  void load()
}

const setFull = (full: boolean): void => {
  isFull = full
  at('viewer-stage').classList.toggle('full', full)
  at('viewer-full').setAttribute('aria-pressed', String(full))
}

const step = (to: number): void => {
  const next = Math.min(Math.max(to, 0), row.length - 1)
  if (next === place) return
  place = next
  showPlace()
}

const onKey = (event: KeyPress): void => {
  // In full size the arrows move the picture itself.
  if (isFull || event.altKey || event.ctrlKey || event.metaKey) return
  const to = {
    ArrowLeft: place - 1, ArrowRight: place + 1, Home: 0, End: row.length - 1,
  }[event.key]
  if (to === undefined) return
  event.preventDefault()
  step(to)
}

/** Shows these pictures, beginning with one of them. */
export const showPictures = (title: string, pictures: readonly Seen[], from = 0): void => {
  row = pictures
  place = from
  say('viewer-title', title)
  setFull(false)
  clear()
  at<Dialog>('viewer').showModal()
  at('viewer-stage').focus()
  showPlace()
}

/** Ends the look; what is still on its way is dropped. */
export const hidePictures = (): void => {
  turn += 1
  row = []
  clear()
  for (const id of ['viewer-title', 'viewer-caption', 'viewer-place', 'viewer-told']) say(id, '')
  at<Dialog>('viewer').close()
}

/** Listens to buttons and keys; once. */
export const beginPictures = (): void => {
  at('viewer-back').addEventListener('click', () => step(place - 1))
  at('viewer-on').addEventListener('click', () => step(place + 1))
  at('viewer-end').addEventListener('click', hidePictures)
  at('viewer-full').addEventListener('click', () => {
    setFull(!isFull)
    showPlace()
  })
  at('viewer').addEventListener('keydown', onKey)
  // Also where the browser closes it, by Escape.
  at('viewer').addEventListener('close', () => {
    if (row.length > 0) hidePictures()
  })
}
