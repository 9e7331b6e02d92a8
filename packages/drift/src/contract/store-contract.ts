import type { Case } from '../case.js'
import { hashCases, listCases, setCases } from './collections-contract.js'
import { arrayCases, jsonCases, searchCases, vectorCases } from './documents-contract.js'
import { formCases } from './forms-contract.js'
import { keyCases } from './keys-contract.js'
import { scriptCases } from './scripts-contract.js'
import { geoCases, sortedSetCases } from './sorted-sets-contract.js'
import { streamCases } from './streams-contract.js'
import { bitmapCases, hyperloglogCases, stringCases } from './strings-contract.js'

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
  ...arrayCases,
  ...vectorCases,
]
