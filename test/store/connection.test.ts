import { replay } from '../support/transcript.js'
import { steps } from './connection.steps.js'

replay('connection', steps)
