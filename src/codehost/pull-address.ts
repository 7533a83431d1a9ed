/** Where a person looks at a pull request: by rule, so that no reply can lead them elsewhere. */
import { hostPath, repositoryOf } from './repository.js'

/** The public host has its pages under another name; one of one's own has them beside `/api/v3`. */
const pagesOf = (base: string): string => {
  const { protocol, host, pathname } = new URL(base)
  if (host === 'api.github.com') return 'https://github.com'
  return `${protocol}//${host}${pathname.replace(/\/(?:api\/v3\/?)?$/, '')}`
}

/** Address of the page of a pull request; `base` is the host's, as the sealed profile has it. */
export const pullAddress = (base: string, repository: string, number: number): string => {
  const [, , owner, name, , pull] = hostPath.pull(repositoryOf(repository), number).split('/')
  return `${pagesOf(base)}/${owner}/${name}/pull/${pull}`
}
