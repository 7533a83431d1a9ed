import { SallyportError } from '../../src/base/errors.js'

/** The refusal of a call that must be refused; defects pass through. */
export const errorOf = (run: () => unknown): SallyportError => {
  try {
    run()
  } catch (error) {
    if (error instanceof SallyportError) return error
    throw error
  }
  throw new Error('nothing was refused')
}

/** Code of the refusal; `none` when there is none, `defect` when it was no refusal. */
export const codeOf = (run: () => unknown): string => {
  try {
    run()
    return 'none'
  } catch (error) {
    return error instanceof SallyportError ? error.code : 'defect'
  }
}

/** The same of what is waited for. */
export const codeOfWaited = async (run: () => unknown): Promise<string> => {
  try {
    await run()
    return 'none'
  } catch (error) {
    return codeOf(() => { throw error })
  }
}
