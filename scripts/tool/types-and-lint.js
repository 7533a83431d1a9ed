// The types, by TypeScript's native compiler, and the lint, whose rules with types stand on it.
import { mkdirSync } from 'node:fs'
import { root, run, tool } from './run.js'

const lines = {
  // What it found last time is kept beside the tree: only what changed is checked again.
  types: [
    tool('typescript7/bin/tsc'), '--noEmit', '--project', root,
    '--incremental', '--tsBuildInfoFile', `${root}/.build/types.tsbuildinfo`,
  ],
  lint: [
    tool('oxlint/bin/oxlint'), '--type-aware', '--deny-warnings',
    '--report-unused-disable-directives-severity=error',
  ],
}

mkdirSync(`${root}/.build`, { recursive: true })
for (const line of Object.values(lines)) {
  const { status, output } = await run(process.execPath, line)
  if (status === 0) continue
  console.log(output)
  process.exitCode = 1
}
