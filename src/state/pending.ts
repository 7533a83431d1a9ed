/** Where requests are kept whose answer nobody may have seen, and what their files are called. */

/** The folder, in the state directory. */
export const pendingFolder = 'pending'

const nameForm = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\.json$/

export const pendingName = (key: string): string => `${key}.json`

/** Whether a name is one of such a file. */
export const isPendingName = (name: string): boolean => nameForm.test(name)
