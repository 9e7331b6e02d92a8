import type { Case } from '../case.js'
import { hashCases, listCases, setCases } from './collections.js'
import { jsonCases, searchCases } from './documents.js'
import { formCases } from './forms.js'
import { keyCases } from './keys.js'
import { scriptCases } from './scripts.js'
import { geoCases, sortedSetCases } from './sorted-sets.js'
import { streamCases } from './streams.js'
import { bitmapCases, hyperloglogCases, stringCases } from './strings.js'

/** What the data store is asked. */
export const storeContract: readonly Case[] = [
  ...formCases,
  ...stringCases,
  ...bitmapCases,
  ...hyperloglogCases,
  ...hashCases,
  ...listCases,
  ...setCases,
  ...sortedSetCases,
  ...geoCases,
  ...streamCases,
  ...keyCases,
  ...scriptCases,
  ...jsonCases,
  ...searchCases,
]
