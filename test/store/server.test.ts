import { replay } from '../support/transcript.js'
import { steps } from './server.steps.js'

replay('server', steps)
