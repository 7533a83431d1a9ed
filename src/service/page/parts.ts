/**
 * Parts of the page's document: found by id, made, and filled. What comes from the service is put
 * there as text, never as markup.
 */
import type { Browser, Control, Part } from './browser.js'

/** The browser that the page runs in; nothing of it is touched by loading this. */
export const browser = globalThis as unknown as Browser

/** The part with this id. */
export const at = <P extends Part = Part>(id: string): P =>
  browser.document.getElementById(id) as P

/** A new part. */
export const make = (
  tag: string, { text = '', name = '' }: { text?: string, name?: string } = {},
  ...children: readonly Part[]
): Part => {
  const made = browser.document.createElement(tag)
  if (name !== '') made.className = name
  if (text !== '') made.textContent = text
  made.append(...children)
  return made
}

/** A new button; `label`: what it is called where its text alone does not tell. */
export const makeButton = (
  text: string, { name = 'quiet', label }: { readonly name?: string, readonly label?: string },
  then: () => void,
): Control => {
  const button = make('button', { text, name }) as Control
  button.type = 'button'
  if (label !== undefined) button.setAttribute('aria-label', label)
  button.addEventListener('click', then)
  return button
}

/** Shown anew only where it differs; what had the keyboard has it again. */
export const fill = (id: string, children: readonly Part[]): void => {
  const place = at(id)
  const shown = browser.document.createElement('div')
  shown.append(...children)
  if (place.dataset['shown'] === shown.innerHTML) return
  place.dataset['shown'] = shown.innerHTML
  const { activeElement: held } = browser.document
  const label = place.contains(held) ? held?.getAttribute('aria-label') : null
  place.replaceChildren(...children)
  if (label === null || label === undefined) return
  for (const one of place.querySelectorAll('button')) {
    if (one.getAttribute('aria-label') === label) one.focus()
  }
}

/** Says a text, anew only where it differs: what is read aloud is not read twice. */
export const say = (id: string, text: string): void => {
  if (at(id).textContent !== text) at(id).textContent = text
}

/** Names and values of a list of facts. */
export const terms = (pairs: readonly (readonly [string, string, string?])[]): Part[] =>
  pairs.flatMap(([name, value, colour]) => {
    const term = make('dt', { text: name })
    if (colour !== undefined) term.prepend(make('i', { name: colour }))
    return [term, make('dd', { text: value })]
  })

/** Does something when a form is sent, in place of sending it. */
export const onSubmit = (id: string, then: () => void): void =>
  at(id).addEventListener('submit', (event) => {
    event.preventDefault()
    then()
  })
