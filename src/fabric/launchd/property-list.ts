/** Property lists as text (XML), made and read by the library plist; load this where one is met. */
import { build, parse } from 'plist'

/** What a property list holds here: data and dates are in none of ours. */
export type PropertyValue =
  | string | number | boolean | readonly PropertyValue[] | PropertyDict
/** A dictionary of it. */
export interface PropertyDict { readonly [key: string]: PropertyValue }

/** A property list with a comment of one line, free of double hyphens, before its root. */
export const propertyListText = (list: PropertyDict, comment: string): string => {
  const text = build(list as Parameters<typeof build>[0])
  return `${text.replace('<plist ', `<!-- ${comment} -->\n<plist `)}\n`
}

/**
 * What a text in XML holds; null where it is no property list. The reader below the library tells
 * the console what it stumbles over, with words of the file, and goes on after some of it: here
 * nothing is told, and whatever was stumbled over is no list.
 */
export const propertyListOf = (text: string): unknown => {
  const { error, warn } = console
  let isWhole = true
  const stumble = (): void => void (isWhole = false)
  Object.assign(console, { error: stumble, warn: stumble })
  try {
    const list: unknown = parse(text)
    return isWhole && text.includes('<plist') ? list : null
  } catch {
    return null
  } finally {
    Object.assign(console, { error, warn })
  }
}
