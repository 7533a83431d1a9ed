/** Folders for which a Mac asks its user before a program reads them. Pure. */
import { join } from 'node:path'
import type { Platform } from '../../base/platform/platform.js'

const guarded = ['Desktop', 'Documents', 'Downloads', 'Library/Mobile Documents']

/** Whether a folder is one of them, or lies in one. */
export const isGuarded = (
  { home, system }: { readonly home: string; readonly system: Pick<Platform, 'folded'> },
  folder: string,
): boolean => guarded.some((name) =>
  `${system.folded(folder)}/`.startsWith(`${system.folded(join(home, name))}/`))
