/** Files that are made from the commands and kept in the repository. */
import { completionScript } from './completion/scripts.js'
import { glossaryPage } from './help/topics/glossary.js'
import type { VerbDeps } from './verb.js'
import { manPages } from './man/pages.js'
import { allSchemas, schemaText } from './schemas.js'
import { describeNouns, describeOlder, describeTree } from './tree.js'

/** Every generated file: path relative to the project, and text. */
export const generatedFiles = async (deps: VerbDeps): Promise<ReadonlyMap<string, string>> => {
  const verbs = await describeTree(deps)
  const nouns = describeNouns(deps)
  const files = new Map<string, string>([['docs/glossary.md', glossaryPage()]])
  for (const [name, text] of manPages(verbs, nouns)) files.set(`man/${name}`, text)
  files.set('completions/sallyport.bash', completionScript('bash', verbs, nouns))
  files.set('completions/_sallyport', completionScript('zsh', verbs, nouns))
  files.set('completions/sallyport.fish', completionScript('fish', verbs, nouns))
  for (const { schema, document } of allSchemas([...verbs, ...await describeOlder(deps)])) {
    files.set(`docs/schemas/${schema}.json`, schemaText(document))
  }
  return files
}
