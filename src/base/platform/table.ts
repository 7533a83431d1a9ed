/** Where the program runs, how that is known, and what is missing: one row a kind of machine. */
import type { Platform } from './platform.js'
import { machineArch, thisPlatform } from './this-platform.js'

/** How well a kind of machine is known. */
export type SupportLevel = 'tried' | 'emulated' | 'simulated' | 'refused' | 'unknown'

/** A kind of machine. */
export interface PlatformRow {
  readonly id: string
  /** As people call it. */
  readonly name: string
  readonly standing: SupportLevel
  /** What the standing rests on, a sentence. */
  readonly because: string
  /** What is missing there, a sentence; null for nothing. */
  readonly lacks: string | null
  /** What to do there instead, a sentence; null where nothing need be done. */
  readonly instead: string | null
}

const noPublications = 'Publications from folders: without Linux nothing proves that the local '
  + 'work has ended. Issues, comments and all else are whole.'

/** The rows, the best known first. */
export const platformRows: readonly PlatformRow[] = [
  {
    id: 'linux-x64', name: 'Linux, glibc, x64', standing: 'tried',
    because: 'Every test runs there, and the tarball is played on Node 20, 22, 24 and 26.',
    lacks: null, instead: null,
  },
  {
    id: 'linux-arm64', name: 'Linux, glibc, arm64', standing: 'emulated',
    because: 'The tarball was played and most of the state suite ran on its Node under qemu; '
      + 'publishing was not tried. The add-ons for locks and for git come built for it.',
    lacks: null, instead: null,
  },
  {
    id: 'darwin', name: 'macOS, x64 and arm64', standing: 'simulated',
    because: 'Tests ran on Linux with its locks, names, errors and launchctl, as its sources and '
      + 'manual pages tell them. The add-on for locks comes built for it.',
    lacks: noPublications,
    instead: 'Publish from Linux; a container of it will do.',
  },
  {
    id: 'linux-musl', name: 'Linux, musl (Alpine)', standing: 'refused',
    because: 'The add-on for locks is built for glibc, and there is no weaker lock.',
    lacks: 'Whatever writes.',
    instead: 'Take an image with glibc, such as node:22-slim in place of node:22-alpine.',
  },
  {
    id: 'windows', name: 'Windows', standing: 'refused',
    because: 'Nobody but you may read your keys by their file modes, which Windows does not have.',
    lacks: 'Whatever writes.',
    instead: 'Run it in WSL, with the state on the disk of WSL and not below /mnt.',
  },
  {
    id: 'other', name: 'Any other', standing: 'unknown',
    because: 'The add-on for locks may not be there; `sallyport doctor` says so.',
    lacks: 'Publications from folders, unless it is Linux.',
    instead: 'Run it in a container of Linux with glibc.',
  },
]

const idOf = (system: Platform, arch: string): string => {
  if (system.name !== 'linux') return system.name
  return system.usesMusl() ? 'linux-musl' : `linux-${arch}`
}

export const platformRowOf = (system: Platform, arch: string): PlatformRow => {
  const id = idOf(system, arch)
  const [other] = platformRows.slice(-1) as [PlatformRow]
  return platformRows.find((row) => row.id === id) ?? other
}

export const thisPlatformRow = (): PlatformRow => platformRowOf(thisPlatform, machineArch)
