/** Random trees, names and files for the rules of git objects. */
import * as fc from 'fast-check'
import { GitTree } from '../../../src/codehost/git/tree.js'
import type { Leaf } from '../../../src/codehost/git/tree.js'

/** Names that sort around the slash, before and behind letters, and beyond two bytes. */
const stems = ['a', 'b', 'lib', 'é', '日本', '😀', '\uffee', 'Z', '~', '!', '0'] as const
const endings = ['', '-', '.', '0', ' ', '.txt', '-b', '!', '~'] as const

/** A name that a tree may hold. */
export const treeName = fc.tuple(fc.constantFrom(...stems), fc.constantFrom(...endings))
  .map(([stem, ending]) => stem + ending)

const objectIdText = fc.uint8Array({ minLength: 20, maxLength: 20 })
  .map((bytes) => Buffer.from(bytes).toString('hex'))

const leaf: fc.Arbitrary<Leaf> = fc.record({
  mode: fc.constantFrom('100644', '100755', '120000', '160000'),
  id: objectIdText,
})

/** A nested tree of all modes, at most five levels deep, folders that are empty included. */
export const nestedTree: fc.Arbitrary<GitTree> = fc.letrec((tie) => ({
  tree: fc.uniqueArray(fc.tuple(treeName, tie('child') as fc.Arbitrary<Leaf | GitTree>), {
    selector: ([name]) => name, maxLength: 5,
  }).map((children) => new GitTree(new Map(children))),
  child: fc.oneof({ maxDepth: 4, withCrossShrink: true }, leaf, tie('tree')),
})).tree

/** Every level of a tree, the deepest first. */
export const levelsOf = (tree: GitTree): GitTree[] =>
  [...tree.children.values()].flatMap((child) => child instanceof GitTree ? levelsOf(child) : [])
    .concat(tree)
