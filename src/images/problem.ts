import type { ImageReason } from './types.js'

/** Why a picture could not be looked into. Never holds anything of it. */
export class ImageProblem extends Error {
  constructor(readonly reason: ImageReason) {
    super(reason)
    this.name = 'ImageProblem'
  }
}
