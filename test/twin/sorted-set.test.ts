import { compareTranscripts } from './compare-transcripts.js'

// One group for `npm test`; transcripts.full.test.ts has the others.
compareTranscripts(['sorted-set'])
