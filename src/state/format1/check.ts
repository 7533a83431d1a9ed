/** What is wrong with a state of format 1, which only `state repair` can still use. */
import * as v from 'valibot'
import { SallyportError } from '../../base/errors.js'
import type { GenerationReport } from '../care/check-generation.js'
import { damage, notice } from '../care/check-generation.js'
import type { Site } from '../care/use-case.js'
import type { CollectionSpec, Problem } from '../types.js'
import type { Documents } from './documents.js'
import { applyPayload, readDocuments, setOf } from './documents.js'
import type { SalvagedEpoch } from './salvage.js'
import { headOf, salvageAll } from './salvage.js'
import { PartMissing, partOf, readPart } from './snapshot.js'

const tailProblem = (epoch: SalvagedEpoch, newest: boolean): Problem | undefined => {
  const subject = `wal epoch ${epoch.epoch}`
  if (epoch.tail === 'clean') return undefined
  if (epoch.tail === 'torn' && newest) {
    return {
      code: 'log_torn', severity: 'torn', subject,
      message: `A torn last record (${epoch.bytesBehind} bytes) was never acknowledged.`,
    }
  }
  if (epoch.tail === 'successor_missing') {
    return damage('log_missing', `The log of epoch ${epoch.sealedFor} is gone.`, subject)
  }
  const head = headOf(epoch)
  const behind = `${epoch.bytesBehind} bytes, ${epoch.recordsBehind} record headers`
  const text = `Untrue bytes follow sequence ${head?.sequence ?? 0} (${behind}).`
  if (!newest) return notice(`old_log_${epoch.tail}`, text, subject)
  return damage(`log_${epoch.tail}`, text, subject)
}

const checkEpochs = (epochs: readonly SalvagedEpoch[], problems: Problem[]): void => {
  const newest = epochs.at(-1)
  if (newest === undefined) problems.push(damage('log_missing', 'There is no log.', 'wal'))
  for (const epoch of epochs) {
    const isNewest = epoch === newest
    const subject = `wal epoch ${epoch.epoch}`
    const report = isNewest ? damage : notice
    if (epoch.headerState !== 'true') {
      problems.push(report('log_header_damaged', 'The first line of a log is untrue.', subject))
    }
    if (epoch.manifest === undefined) {
      const text = 'A manifest is missing or does not match its log.'
      problems.push(report('manifest_damaged', text, `manifest epoch ${epoch.epoch}`))
    }
    const tail = tailProblem(epoch, isNewest)
    if (tail !== undefined) problems.push(tail)
  }
}

const checkDocuments = (site: Site, newest: SalvagedEpoch, problems: Problem[]): Documents => {
  const { files, places } = site
  const { manifest } = newest
  if (manifest === undefined) return new Map()
  const { all, bad } = readDocuments(files, places, manifest)
  for (const { collection, part, documents } of bad) {
    problems.push(damage('collection_damaged',
      `A collection file is missing or untrue (${documents} documents).`,
      `${collection}.${part === '' ? 'all' : part}`))
  }
  checkPlacement(site, newest, problems)
  for (const { content } of newest.records) applyPayload(all, content)
  return all
}

/** Every document must lie in the partition that its id names. */
const checkPlacement = (site: Site, { manifest }: SalvagedEpoch, problems: Problem[]): void => {
  for (const [collection, { digits, parts }] of Object.entries(manifest?.collections ?? {})) {
    for (const [part, entry] of Object.entries(parts)) {
      let ids: string[]
      try {
        ids = Object.keys(readPart(site.files, site.places, collection, part, entry))
      } catch (error) {
        if (error instanceof PartMissing || error instanceof SallyportError) continue
        throw error
      }
      const misplaced = ids.filter((id) => partOf(id, digits) !== part).length
      if (misplaced > 0 || ids.length !== entry[3]) {
        problems.push(damage('collection_misfiled',
          'A collection file holds documents of another partition or another number of them.',
          `${collection}.${part === '' ? 'all' : part}`))
      }
    }
  }
}

const checkShapes = (
  documents: Documents, specs: readonly CollectionSpec<unknown>[], problems: Problem[],
): void => {
  for (const spec of specs) {
    const { docs } = setOf(new Map(documents), spec.name, 1)
    const { schema, upgrade = (doc) => doc } = spec
    const wrong = [...docs.values()].filter((doc) => !v.is(schema, upgrade(doc))).length
    if (wrong > 0) {
      problems.push(damage('document_damaged',
        `${wrong} stored documents break the shape of their collection.`, spec.name))
    }
  }
  if (specs.length === 0) return
  const known = new Set(specs.map(({ name }) => name))
  for (const name of documents.keys()) {
    if (!known.has(name)) {
      problems.push(notice('collection_unknown', 'A collection is not known here.', name))
    }
  }
}

/** Checks manifests, logs and documents of format 1. */
export const checkFormat1 = (
  site: Site, specs: readonly CollectionSpec<unknown>[], problems: Problem[],
): GenerationReport => {
  const epochs = salvageAll(site.files, site.places)
  const newest = epochs.at(-1)
  checkEpochs(epochs, problems)
  const documents: Documents =
    newest === undefined ? new Map<string, never>() : checkDocuments(site, newest, problems)
  checkShapes(documents, specs, problems)
  const head = newest === undefined ? undefined : headOf(newest)
  return {
    store_id: newest?.header?.store_id ?? null,
    epoch: newest?.epoch ?? null,
    sequence: head?.sequence ?? null,
    log_records: newest?.records.length ?? 0,
    documents: [...documents.values()].reduce((sum, set) => sum + set.docs.size, 0),
  }
}
