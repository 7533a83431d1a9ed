/** Names and places of everything in a state directory and beside it. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'

/** The format this program writes. */
export const formatVersion = 7
/** The oldest one that can be brought to it: states of formats 1 to 4 were never released. */
export const oldestFormatVersion = 5
/** The first format whose logs have chains without the check of the header. */
const chainWithoutCheck = 7
/** The format that the first line of a log names, by that of the state. */
export const logFormatOf = (format: number): 2 | 3 => format < chainWithoutCheck ? 2 : 3

/** Epochs in file names have this many digits, so that names sort as numbers do. */
const epochDigits = 12

/** An epoch as it stands in a file name. */
export const epochText = (epoch: number): string => String(epoch).padStart(epochDigits, '0')

/** Places inside one state directory. */
export const placesOf = (dir: string) => ({
  state: join(dir, 'STATE'),
  lock: join(dir, 'lock'),
  /** Taken without waiting by whoever folds. */
  fold: join(dir, 'fold'),
  wal: join(dir, 'wal'),
  collections: join(dir, 'collections'),
  artifacts: join(dir, 'artifacts'),
  witness: join(dir, 'witness.log'),
  run: join(dir, 'run'),
  /** Notes of publications under way, one file each. */
  arrivals: join(dir, 'run', 'publishing'),
  aside: join(dir, 'aside'),
  log: (epoch: number) => join(dir, 'wal', `${epochText(epoch)}.log`),
  /** How far the log had come when a process ended; see `ended-at.ts`. */
  endedAt: join(dir, 'wal', 'ended'),
  /** The second copy of a manifest, beside the log that it was founded with. */
  founding: (epoch: number) => join(dir, 'wal', `${epochText(epoch)}.founding`),
  /** A manifest, by its number. */
  manifest: (number: number) => join(dir, 'collections', `manifest.${epochText(number)}.json`),
  segment: (name: string) => join(dir, 'collections', name),
})
export type Places = ReturnType<typeof placesOf>

/** What a directory holds a state by, as long as one of them is there. */
export const partsOf = (
  { state, wal, collections, artifacts, witness }: Places,
): readonly string[] => [state, wal, collections, artifacts, witness]

/** Whether a state is there; what may not be looked at is not. Opens nothing, and never throws. */
export const isStateAt = (dir: string): boolean =>
  partsOf(placesOf(dir)).some((path) => existsSync(path))

/** File name of the `n`-th segment that a manifest was the first to name. */
export const segmentName = (number: number, n: number): string => `${epochText(number)}.${n}.seg`

/** Places of a store's key, anchor and stops, outside the state directory. */
export const keyPlaces = (configDir: string, storeId: string) => ({
  configDir,
  dir: join(configDir, 'keys'),
  key: join(configDir, 'keys', `${storeId}.key`),
  anchor: join(configDir, 'keys', `${storeId}.anchor`),
  /** Stops that wait to be recorded, one file each. */
  stops: join(configDir, 'keys', `${storeId}.stops`),
})
export type KeyPlaces = ReturnType<typeof keyPlaces>

const logName = /^(\d{12})\.log$/
const foundingName = /^(\d{12})\.founding$/
const manifestName = /^manifest\.(\d{12})\.json$/

const segmentForm = /^\d{12}\.\d{1,9}\.seg$/

export const isSnapshotName = (name: string): boolean => segmentForm.test(name)

const epochsOf = (names: readonly string[], form: RegExp): number[] =>
  names
    .map((name) => form.exec(name)?.[1])
    .filter((text) => text !== undefined)
    .map(Number)
    .sort((a, b) => a - b)

/** Epochs of the log files among `names`, ascending. */
export const logEpochs = (names: readonly string[]): number[] => epochsOf(names, logName)

/** Epochs of the second copies of founded manifests among `names`, ascending. */
export const foundingEpochs = (names: readonly string[]): number[] => epochsOf(names, foundingName)

/** Numbers of the manifests among `names`, ascending. */
export const manifestNumbers = (names: readonly string[]): number[] => epochsOf(names, manifestName)
