import { replay } from '../support/transcript.js'
import { steps } from './stream.steps.js'

replay('stream', steps)
