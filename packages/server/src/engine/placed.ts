import type { Elsewhere } from '../../../../src/sandbox/world.js'
import { Engine } from './engine.js'
import type { EngineChoice } from './options.js'
import { elsewhereOn } from './tenant.js'
import { differenceText, Twin } from './twin.js'

/** An engine of a server. */
export interface PlacedEngine {
  /** Resolves when everything that has run was compared, where it is. */
  compared(): Promise<void>
  /** Gives it back, when everything was compared. */
  close(): Promise<void>
}

/**
 * Takes an engine and puts it in the place of the data store of the one tenant, or beside it.
 * @param tell receives differences that nobody else takes
 */
export async function placed(
  url: string,
  { engine: instead, differs, allowEngines = [] }: EngineChoice,
  tenants: { elsewhere: Elsewhere | undefined },
  tell: (text: string) => void,
): Promise<PlacedEngine> {
  const option = instead === undefined ? 'twin (--twin)' : 'engine (--store)'
  const engine = await Engine.open(url, { option, allowed: allowEngines })
  if (instead !== undefined) {
    tenants.elsewhere = elsewhereOn(engine)
    return { compared: async () => undefined, close: () => engine.close() }
  }
  const twin = new Twin(engine, differs ?? ((difference) => tell(`twin: ${differenceText(difference)}`)), tell)
  tenants.elsewhere = twin.beside
  return { compared: () => twin.idle(), close: () => twin.idle().then(() => engine.close()) }
}
