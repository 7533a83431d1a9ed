/** Every rule of the layers finds the import that it forbids. */
import { join } from 'node:path'
import t from 'tap'

interface Import {
  readonly specifier: string
  readonly to: string | null
  readonly dynamic: boolean
  readonly typeOnly: boolean
}

type Graph = ReadonlyMap<string, readonly Import[]>

interface Violation {
  readonly rule: string
  readonly from: string
  readonly to: string
}

const tool = join(process.cwd(), 'scripts/tool/layers.js')
const { violationsIn, ruleNames } = (await import(tool)) as {
  violationsIn(graph: Graph): readonly Violation[]
  readonly ruleNames: readonly string[]
}

type Kind = 'value' | 'type' | 'dynamic'

/** An import of a file of the project, or of a package. */
const importOf = (to: string, kind: Kind = 'value'): Import => ({
  specifier: to.includes('/') && to.endsWith('.ts') ? `./${to}` : to,
  to: to.endsWith('.ts') ? to : null, dynamic: kind === 'dynamic', typeOnly: kind === 'type',
})

const brokenBy = (...edges: readonly (readonly [from: string, to: string, kind?: Kind])[]) => {
  const graph = new Map<string, Import[]>()
  for (const [from, to, kind] of edges) {
    graph.set(from, [...(graph.get(from) ?? []), importOf(to, kind)])
    if (to.endsWith('.ts')) graph.set(to, graph.get(to) ?? [])
  }
  return violationsIn(graph).map(({ rule }) => rule)
}

/** An import that each rule forbids, and nothing else does. */
const planted: Readonly<Record<string, readonly [from: string, to: string]>> = {
  'base-imports-down': ['src/base/a.ts', 'src/state/b.ts'],
  'state-imports-down': ['src/state/a.ts', 'src/images/b.ts'],
  'images-imports-down': ['src/images/a.ts', 'src/net/b.ts'],
  'net-imports-down': ['src/net/a.ts', 'src/governance/b.ts'],
  'governance-imports-down': ['src/governance/a.ts', 'src/contact/b.ts'],
  'contact-imports-down': ['src/contact/a.ts', 'src/observations/b.ts'],
  'observations-imports-down': ['src/observations/a.ts', 'src/gateway/b.ts'],
  'gateway-imports-down': ['src/gateway/a.ts', 'src/alpha/b.ts'],
  'alpha-imports-down': ['src/alpha/a.ts', 'src/gateway/b.ts'],
  'shots-imports-down': ['src/shots/a.ts', 'src/alpha/b.ts'],
  'edge-imports-down': ['src/edge/a.ts', 'src/shots/b.ts'],
  'codehost-imports-down': ['src/codehost/a.ts', 'src/fabric/b.ts'],
  'fabric-imports-down': ['src/fabric/a.ts', 'src/service/b.ts'],
  'service-imports-down': ['src/service/a.ts', 'src/cli/b.ts'],
  'owner-1': ['src/service/a.ts', 'commander'],
  'owner-2': ['src/cli/a.ts', 'lowdb'],
  'owner-3': ['src/cli/a.ts', 'fs-native-extensions'],
  'owner-4': ['src/cli/a.ts', 'pngjs'],
  'owner-6': ['src/cli/a.ts', '@koromix/koffi-linux-x64'],
  'owner-7': ['src/shots/a.ts', 'chokidar'],
  'owner-8': ['src/cli/a.ts', 'hono/router/trie-router'],
  'owner-9': ['src/cli/a.ts', 'node-fetch'],
  'owner-10': ['src/cli/a.ts', 'node:tls'],
  'owner-11': ['src/cli/commands/alpha/a.ts', 'child_process'],
  'owner-12': ['src/cli/a.ts', 'plist'],
  'owner-13': ['src/state/place/a.ts', 'pg/lib/client.js'],
  'sandbox-stands-on-base': ['src/sandbox/a.ts', 'src/state/b.ts'],
  'sandbox-is-for-demo-and-tests': ['src/cli/commands/alpha/a.ts', 'src/sandbox/b.ts'],
  'src-stands-alone': ['src/cli/a.ts', 'test/b.ts'],
  'jobs-never-import-closure': ['src/codehost/jobs/a.ts', 'src/codehost/closure/b.ts'],
  'bundled-packages-only': ['src/cli/a.ts', 'ajv'],
  resolvable: ['test/a.ts', 'nowhere'],
}

t.test('every rule finds its planted violation and nothing else does', async (t) => {
  for (const [rule, [from, to]] of Object.entries(planted)) {
    t.strictSame(brokenBy([from, to]), [rule], rule)
    t.strictSame(brokenBy([from, to, 'dynamic']), [rule], `${rule}, when it is loaded later`)
  }
  t.strictSame(brokenBy(['src/cli/a.ts', 'sharp']), ['owner-5', 'bundled-packages-only'])
  t.strictSame(brokenBy(['src/cli/a.ts', 'nowhere']), ['declared-packages-only', 'resolvable'])
  const all = [...Object.keys(planted), 'owner-5', 'declared-packages-only', 'no-circles']
  t.strictSame(ruleNames.toSorted(), all.sort())
})

t.test('what a rule does not forbid passes', async (t) => {
  const right = [
    ['src/cli/a.ts', 'src/base/b.ts'], ['src/cli/a.ts', 'commander'], ['src/net/a.ts', 'node:tls'],
    ['src/cli/pager.ts', 'node:child_process'], ['src/shots/watch/a.ts', 'chokidar'],
    ['src/cli/commands/demo/a.ts', 'src/sandbox/b.ts'], ['test/a.ts', 'src/sandbox/b.ts'],
    ['src/sandbox/a.ts', 'src/base/b.ts'], ['test/a.ts', 'ajv'], ['src/gateway/a.ts', 'pngjs'],
    ['src/codehost/producer/a.ts', '@koromix/koffi-linux-x64'], ['src/state/a.ts', 'node:fs'],
  ] as const
  for (const edge of right) t.strictSame(brokenBy(edge), [], edge.join(' imports '))
  t.strictSame(brokenBy(['src/cli/a.ts', 'node:tls', 'type']), [], 'types are free')
  t.strictSame(brokenBy(['src/base/a.ts', 'src/cli/b.ts', 'type']), ['base-imports-down'],
    'a layer is one of types, too')
})

t.test('a circle is found however long it is, one that types close in src alone', async (t) => {
  const names = ['a', 'b', 'c', 'd'].map((name) => `src/base/${name}.ts`)
  const [a, b, c, d] = names as [string, string, string, string]
  t.strictSame(brokenBy([a, b], [b, a]), ['no-circles'])
  t.strictSame(brokenBy([a, a]), ['no-circles'])
  t.strictSame(brokenBy([a, b], [b, c], [c, d], [d, b]), ['no-circles'])
  t.strictSame(brokenBy([a, b], [b, a, 'dynamic'], [c, d], [d, c]), ['no-circles', 'no-circles'])
  t.strictSame(brokenBy([a, b], [b, c], [a, c], [a, d], [c, d]), [])
  t.strictSame(brokenBy([a, b], [b, a, 'type']), ['no-circles'])
  t.strictSame(brokenBy(['bench/a.ts', 'bench/b.ts'], ['bench/b.ts', 'bench/a.ts', 'type']), [])
  const circle = violationsIn(new Map([[a, [importOf(b)]], [b, [importOf(c)]], [c, [importOf(a)]]]))
  t.strictSame(circle, [{ rule: 'no-circles', from: a, to: `${b}, ${c}` }])
})
