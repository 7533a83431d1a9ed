import type { JsonObject } from '../types.js'

/** Gives an object these members, in place of what it had under their names. */
export const set = (members: JsonObject) => (json: JsonObject): void =>
  void Object.assign(json, members)

/** Takes a member out of an object. */
export const drop = (name: string) => (json: JsonObject): void => {
  delete json[name]
}
