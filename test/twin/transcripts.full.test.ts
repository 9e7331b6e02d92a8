import { readdirSync } from 'node:fs'
import { compareTranscripts } from './compare-transcripts.js'

const suffix = '.steps.ts'
const groups = readdirSync(new URL('../store/', import.meta.url))
  .filter((name) => name.endsWith(suffix))
  .map((name) => name.slice(0, -suffix.length))

compareTranscripts(groups.filter((group) => group !== 'sorted-set'))
