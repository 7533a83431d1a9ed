// What the bundle holds of others: name, version and licence of each package, as licences ask.
import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './run.js'

const within = /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//

/**
 * Folders of the packages of which a build has bytes, relative to the project, sorted.
 * @param {readonly import('esbuild').Metafile[]} metafiles
 * @returns {readonly string[]}
 */
export const packagesIn = (metafiles) => {
  const found = new Set()
  for (const { outputs } of metafiles) {
    for (const { inputs } of Object.values(outputs)) {
      for (const [path, { bytesInOutput }] of Object.entries(inputs)) {
        const [, folder] = within.exec(path) ?? []
        if (folder !== undefined && bytesInOutput > 0) found.add(folder)
      }
    }
  }
  return [...found].sort()
}

/**
 * The text that goes with the bundle: each licence once, below the packages that have it.
 * @param {readonly string[]} folders of packages, relative to the project
 * @throws {Error} where a package has neither a licence file nor names a licence
 */
export const noticesOf = (folders) => {
  const named = new Map()
  for (const { head, text } of folders.map(noticeOf)) {
    named.set(text, [...(named.get(text) ?? []), head])
  }
  const parts = [...named].map(([text, heads]) => `\n==== ${heads.join('\n==== ')}\n\n${text}\n`)
  return `Sallyport holds code of these packages.\n${parts.join('')}`
}

const noticeOf = (folder) => {
  const path = join(root, folder)
  const { name, version, license, author } = JSON.parse(
    readFileSync(join(path, 'package.json'), 'utf8'))
  const file = readdirSync(path).find((one) => /^(licen[cs]e|copying)(\.|$)/i.test(one))
  if (typeof license !== 'string' && file === undefined) {
    throw new Error(`${name} names no licence: it cannot be shipped`)
  }
  const text = file === undefined
    ? String(author?.name ?? author ?? '') : readFileSync(join(path, file), 'utf8')
  return { head: `${name} ${version} (${license ?? 'see below'})`, text: text.trim() }
}
