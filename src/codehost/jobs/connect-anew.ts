import type { Job } from './job-rows.js'

/** The line that saves another connection to the repository of a job. */
export const connectAnew = ({ repository }: Pick<Job, 'repository'>): string =>
  `sallyport codehost connect --repo ${repository} --token-file F`
