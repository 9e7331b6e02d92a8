import { readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { toJsonSchema } from '@valibot/to-json-schema'
import { beforeAll, describe, expect, inject, test } from 'vitest'
import { parse } from 'yaml'
import { controlOperations } from '../../packages/server/src/control/control.js'
import { tools } from '../../packages/server/src/mcp/tools.js'
import { programs } from '../../packages/server/src/programs/programs.js'
import { DataFiles, Declarations, type Names, SchemaFile } from './named-places.js'

// Every public name had another one before the first release. No old name may be in its former place, and each new name
// must be there: in the declarations and schemas of the built package, and in the tables of the command line, the
// control API and the tools for agents.

/** Marks a name without a replacement. */
const gone = ''

/** Old name → new name, at one place or at several. A new name behind a dot is further inside. */
type Table = Readonly<Record<string, Readonly<Record<string, string>>>>

const members: Table = {
  Sandbox: {
    calls: 'outbound',
    addresses: 'urls',
    vocabulary: 'dialect',
    play: gone,
    check: 'assertInvariants',
    examine: 'checkInvariants',
    at: 'asOf',
    strays: 'realHostRequests',
    onRenewal: 'onReset',
    noteStray: gone,
  },
  'RemoteSandbox, RealRedisSandbox, ShadowSandbox': {
    calls: 'outbound',
    addresses: 'urls',
    play: gone,
    check: 'assertInvariants',
    examine: 'checkInvariants',
    at: 'asOf',
  },
  'Sandbox.tokens, RemoteSandbox.tokens': { readonly: 'storeReadonly' },
  'LoadOptions, RemoteSandbox.load(1)': { shift: 'rebaseTime' },
  'Sandbox.store': { spend: 'cost', connection: 'connect' },
  'RemoteSandbox.store, SandboxSnapshot.store': { spend: 'cost' },
  'Sandbox.queue, RemoteSandbox.queue': {
    message: 'getMessage',
    release: 'deliverNow',
    urlGroup: 'urlGroups.addEndpoints',
    keys: 'signingKeys',
  },
  'SignOptions, RemoteSandbox.queue.sign(1)': { wrong: 'flaw' },
  'ExplainTarget, RemoteSandbox.queue.explain(0)': { schedule: 'scheduleId' },
  'Forecast, Sandbox.queue.forecast(), RemoteSandbox.queue.forecast()': { because: 'blockedBy' },
  ForecastBlocker: { first: 'holdsSlot' },
  'ForecastBlocker.kind': { answer: 'response' },
  'Message, MessageView, RemoteSandbox.queue.messages[]': {
    time: 'createdAt',
    due: 'nextAttemptAt',
    ended: 'isEnded',
  },
  'DeadLetter, DeadLetterView, RemoteSandbox.queue.deadLetters[]': { time: 'createdAt', reply: 'response' },
  'Sandbox.workflow, RemoteSandbox.workflow': { run: 'getRun', step: 'stubStep', event: 'stubEvent' },
  'Sandbox.workflow.stubStep(), RemoteSandbox.workflow.stubStep()': { fails: 'throws' },
  'Sandbox.workflow.getRun(), RemoteSandbox.workflow.getRun()': { reaches: 'advanceToStep', ends: 'advanceToEnd' },
  'Sandbox.clock': { draining: 'isDraining', settled: 'settle' },
  'RemoteSandbox.clock': { settled: 'settle' },
  AdvanceOptions: { budget: 'maxTimers' },
  'Sandbox.faults, RemoteSandbox.faults': { list: 'rules' },
  'Sandbox.faults.rules[], RemoteSandbox.faults.rules[]': { struck: 'injected', line: 'location' },
  'Sandbox.faults.unused[], RemoteSandbox.faults.unused[]': { line: 'location', sentence: 'message' },
  'Sandbox.destinations, RemoteSandbox.destinations': { answer: 'respond', unplayed: 'unused' },
  'Sandbox.outbound': { answer: 'respond', unplayed: 'unused', address: gone },
  'RemoteSandbox.outbound': { answer: 'respond', unplayed: 'unused', address: 'urlFor' },
  'Recorder, RemoteRecorder, RemoteOutboundRecorder': { all: 'requests' },
  'Sandbox.stats.queue, Sandbox.stats.search(), RemoteSandbox.stats.queue, RemoteSandbox.stats.search()': {
    set: 'override',
  },
  'Sandbox.traffic': {
    of: 'ofType',
    about: 'forMessage',
    find: 'get',
    decoded: 'decode',
    watchStore: 'recordStoreChanges',
  },
  'RemoteSandbox.traffic': { of: 'ofType', about: 'forMessage', find: gone },
  'DecodedEntry, Sandbox.traffic.decode()': { words: 'argv' },
  stuntdouble: { hostTimers: 'fakeTimers' },
}

const options: Table = {
  'SandboxOptions, FixtureOptions, ServerOptions': {
    vocabulary: 'dialect',
    storeToken: 'tokens.store',
    readonlyToken: 'tokens.storeReadonly',
    queueToken: 'tokens.queue',
    queueReadonlyToken: 'tokens.queueReadonly',
    mgmtUser: 'tokens.mgmtUser',
    mgmtKey: 'tokens.mgmtKey',
    signingKey: 'signingKeys.current',
    nextSigningKey: 'signingKeys.next',
    signing: 'signatureWindow',
    deliver: 'deliverTo',
    warn: 'onWarning',
  },
  'SandboxOptions, FixtureOptions': {
    base: 'urls.base',
    store: 'urls.store',
    queue: 'urls.queue',
    mgmt: 'urls.mgmt',
    regions: 'urls.regions',
    redis: 'urls.redis',
  },
  ForkOptions: { deliver: 'deliverTo' },
  'SandboxOptions.dialect, FixtureOptions.dialect, ServerOptions.dialect, DialectName': { service: 'neutral' },
  FixtureOptions: { via: 'intercept', unhandledCalls: 'onUnhandledOutbound' },
  'FixtureOptions.onUnhandledOutbound': { pass: 'bypass' },
  'FixtureOptions.realHosts': { refuse: 'block' },
  'FixtureOptions.strict': { leftover: 'pending', stray: 'realHosts', untouched: 'noTraffic' },
  ServerOptions: {
    report: 'onError',
    log: 'onRequest',
    differs: 'onDifference',
    iKnow: 'allowProduction',
    shift: 'rebaseTime',
    engine: 'realRedis',
    twin: 'shadowRedis',
    allowEngines: 'allowRedisHosts',
  },
  'ServerOptions.cluster': { engine: 'url', base: 'publicUrl', address: 'nodeUrl' },
  'ServerOptions.limits': {
    body: 'maxBodyBytes',
    arrival: 'requestTimeout',
    streams: 'maxStreams',
    connections: 'maxConnections',
    tenants: 'maxTenants',
    entries: 'maxTrafficEntries',
  },
  StuntdoubleServer: {
    inspector: 'inspectorUrl',
    change: 'setScenario',
    outline: 'describeTenant',
    compared: 'shadowSettled',
    isKept: 'isStateSaved',
  },
  RequestLogEntry: { milliseconds: 'durationMs' },
}

const faultKinds = {
  reply: 'error-reply',
  certificate: 'bad-certificate',
  signature: 'bad-signature',
  'content-type': 'wrong-content-type',
  'late-answer': 'late-response',
  quota: 'quota-exceeded',
  unresolved: 'unresolved-host',
}

const faults: Table = {
  fault: {
    ok: 'pass',
    timeout: 'hang',
    reply: 'status',
    retryAfter: 'status',
    contentType: 'wrongContentType',
    lateAnswer: 'lateResponse',
    quota: 'quotaExceeded',
    unresolved: 'unresolvedHost',
  },
  'FaultKind, scenario.schema.json#faults[].fault.kind': faultKinds,
  'InjectionPoint, scenario.schema.json#faults[].on': { 'app.call': 'outbound.request' },
  'FaultMatch, scenario.schema.json#faults[].match, shipped scenarios#faults[].match': {
    api: 'service',
    endpoint: 'path',
    header: 'headers',
  },
  'SignatureFlaw, signatureFlaws': { reserialised: 'reserialized' },
  stuntdouble: {
    faultPoints: 'injectionPoints',
    FaultPoint: 'InjectionPoint',
    lostAck: 'fault.lostAck',
    ok: 'fault.pass',
    reset: 'fault.reset',
    status: 'fault.status',
    drop: 'fault.drop',
  },
}

const matchers: Table = {
  'SandboxMatchers, SandboxExpect, sandboxMatchers, evaluators': {
    toHaveCalled: 'toHaveOutboundRequest',
    toHaveCalledBack: 'toHaveDeliveredCallback',
    toHaveBeenDeduplicated: 'toHaveDeduplicated',
    toHaveBeenSigned: 'toHaveValidSignature',
    toHaveScheduled: 'toHaveSchedule',
    toHaveSpent: 'toHaveCost',
    toHaveRun: 'toHaveWorkflowRun',
    toHaveStep: 'toHaveWorkflowStep',
    toHaveWaitedFor: 'toHaveWorkflowWait',
  },
  'WorkflowWaitPattern.outcome': { came: 'received', 'timed out': 'timed-out' },
  OutboundPattern: { to: 'url', handled: 'handlerRuns' },
  SequenceStep: { words: 'argv' },
  'AttemptItem, DeliveredPattern.attempts[], DeadLetterPattern.attempts[]': { delay: 'delayMs' },
  CallbackPattern: { header: 'headers', sourceHeader: 'sourceHeaders' },
  Verdict: { found: 'matched' },
  'stuntdouble/matchers': { judges: 'evaluators', Judge: 'Evaluator' },
}

const entries: Table = {
  'EntryType, entryTypes, trace.schema.json#entries[].type': { call: 'outbound' },
  RequestEntry: { answer: 'response', endedAfter: 'endedAfterSeq' },
  'OutboundEntry, OutboundRequest': {
    answer: 'response',
    handled: 'handlerRuns',
    couldBe: 'possibleCauses',
    endedAfter: 'endedAfterSeq',
  },
  AttemptEntry: { why: 'reason', waited: 'waitReason', endedAfter: 'endedAfterSeq' },
  'AttemptOutcome.next, trace.schema.json#entries[].outcome.next': { delay: 'delayMs' },
  CommandEntry: { words: 'argv', waited: 'waitedMs' },
  'CommandEntry.via, trace.schema.json#entries[].via': { native: 'resp' },
  'MessageEntry.state': { RELEASED: 'DELIVER_REQUESTED' },
  SettingEntry: { of: 'resource' },
  ClockEntry: { call: 'move', moves: 'count', endedAfter: 'endedAfterSeq' },
  'trace.schema.json#entries[]': {
    answer: 'response',
    handled: 'handlerRuns',
    couldBe: 'possibleCauses',
    why: 'reason',
    waited: 'waitReason',
    endedAfter: 'endedAfterSeq',
    of: 'resource',
    call: 'move',
    moves: 'count',
    words: 'argv',
  },
  'HarEntry._type': { call: 'outbound' },
}

const policies: Table = {
  'Policy, ResolvedPolicy, defaultPolicy, SandboxOptions.policy, the policies of a program': {
    trafficLimit: 'maxTrafficEntries',
    trafficBytes: 'maxTrafficBytes',
    maxAnswerSize: 'maxResponseSize',
    maxStorage: 'maxStorageSize',
    searchLag: 'searchIndexingDelay',
    deliveredReadableFor: 'deliveredRetention',
    handlerPatience: 'handlerStallTimeout',
    cancelledSpelling: 'canceledSpelling',
    cancelledAt: 'cancelTiming',
    callbackTimes: 'callbackTimestampType',
    refuseCallbackDelay: 'rejectCallbackDelay',
    refuseLoopback: 'rejectLoopback',
    refuseEncodedDestination: 'rejectEncodedDestination',
    callReports: 'workflowCallCallbacks',
    lazyAbove: 'workflowLazyBodyAbove',
    deduplicateSteps: 'workflowDeduplicateSteps',
    echoConfiguration: 'workflowEchoConfiguration',
    stepConfiguration: 'workflowStepConfiguration',
    maxRunSteps: 'workflowMaxSteps',
    maxRunContext: 'workflowMaxContext',
    twoPhaseTrigger: 'workflowTwoPhaseTrigger',
    notifyOrder: 'workflowNotifyOrder',
    waitList: 'flowControlOrder',
  },
  'Policy.cancelTiming': { now: 'immediate' },
  'Policy.searchKeywordFast': { refuse: 'reject' },
}

/** The files of the scenarios that come with the package. */
const shipped = 'shipped scenarios'

const scenarios: Table = {
  'Scenario, scenario.schema.json#, shipped scenarios#': {
    about: 'description',
    vocabulary: 'dialect',
    calls: 'outbound',
  },
  'Scenario.dialect, scenario.schema.json#dialect': { service: 'neutral' },
  'Scenario.destinations[], scenario.schema.json#destinations[], scenario.schema.json#outbound[], shipped scenarios#destinations[]':
    {
      answer: 'response',
    },
  'Scenario.destinations[].response, scenario.schema.json#destinations[].response': { waitMs: 'delay' },
  'ScenarioStep, scenario.schema.json#steps[], shipped scenarios#steps[]': {
    retryNow: 'deliverNow',
    setQueue: 'upsertQueue',
    setUrlGroup: 'addEndpoints',
    rotateKeys: 'rotateSigningKeys',
  },
  'ScenarioStep.pinFlowControl, scenario.schema.json#steps[].pinFlowControl': { periodSeconds: 'period' },
  'ScenarioStep.request, scenario.schema.json#steps[].request, shipped scenarios#steps[].request': {
    answer: 'response',
  },
  'ScenarioStep.drain, scenario.schema.json#steps[].drain': { budget: 'maxTimers' },
  'Expectation, scenario.schema.json#expect[], shipped scenarios#expect[]': {
    requested: 'receivedRequest',
    received: 'reached',
    calledBack: 'deliveredCallback',
    scheduled: 'schedule',
    called: 'outboundRequest',
  },
  'Expectation.reached, scenario.schema.json#expect[].reached': { at: 'url' },
  'Expectation.executed, scenario.schema.json#expect[].executed': { words: 'argv' },
}

const checks: Table = {
  'stuntdouble/checks': {
    expectIdempotent: 'assertIdempotent',
    expectVerified: 'assertVerifiesSignatures',
    everyCrashPoint: 'assertCrashSafe',
    explore: 'exploreFaults',
    interleavings: 'exploreInterleavings',
    historyOf: gone,
    historyFrom: 'parseRunHistory',
    CrashPointBroken: 'CrashSafetyError',
    HistoryError: 'RunHistoryError',
    NotIdempotent: 'IdempotenceError',
    NotRepeatable: 'NotRepeatableError',
  },
  'stuntdouble/fast-check': {
    checkDelivery: 'assertResilient',
    DeliveryBroken: 'ResilienceError',
    expectIdempotent: gone,
    expectVerified: gone,
    takeTurns: 'sendStoreRequests',
    messages: 'arb.message',
    schedules: 'arb.schedule',
    crons: 'arb.cron',
    commands: 'arb.command',
    clockMoves: 'arb.clockMove',
    storeTurns: 'arb.storeRequests',
    faultRules: 'arb.faultRules',
    deliveryFaults: 'arb.deliveryFaults',
    callFaults: 'arb.outboundFaults',
    deliveryScripts: 'arb.deliveryScript',
  },
  'DeliveryUnderTest, ResilienceOptions': { deliver: 'publish', settle: 'drain', calls: 'outbound' },
  IdempotenceOptions: { deliver: 'publish', settle: 'drain', calls: 'outbound', ignoreCalls: 'ignoreOutbound' },
  VerificationOptions: { settle: 'drain', calls: 'outbound', ignoreCalls: 'ignoreOutbound' },
  CrashSafetyOptions: { bound: 'maxRuns', settle: 'drain', calls: 'outbound', ignoreCalls: 'ignoreOutbound' },
  PlayOptions: { prepare: 'setup' },
  'ExploreOptions, FaultExplorationOptions': { prepare: 'setup', bound: 'maxRuns' },
  InterleavingOptions: {
    prepare: 'setup',
    bound: 'maxRuns',
    within: 'timeBudget',
    until: 'stopOnFirstFailure',
    reduce: 'skipEquivalent',
    settle: 'drain',
  },
  ResilienceOptions: { exhausted: 'includeExhausted' },
  'ResilienceOptions.guidance': { unreached: 'coverage' },
  'arb.deliveryFaults(0), arb.outboundFaults(0)': { max: 'maxRules', reach: 'maxSkip' },
  'arb.faultRules(0), arb.deliveryScript(0)': { max: 'maxRules' },
  'arb.clockMove(0), arb.storeRequests(0)': { longest: 'maxLength' },
  ReplayOptions: { patience: 'timeout' },
  Coverage: { never: 'unreached', text: 'toString' },
  'ExplorationOutcome, InterleavingOutcome': { what: 'title', times: 'count', why: 'reason', flaw: 'anomaly' },
  InterleavingExploration: { about: 'estimatedTotal', untried: 'notTried' },
  InterleavingStep: { who: 'client' },
  SerialDifference: { what: 'subject', found: 'actual' },
  AnomalyName: {
    'lost update': 'lost-update',
    'double spend': 'double-spend',
    'stale check': 'stale-check',
    'write skew': 'write-skew',
    'foreign delete': 'foreign-delete',
    'dirty read': 'dirty-read',
    'non-repeatable read': 'non-repeatable-read',
    'read skew': 'read-skew',
    'mixed writes': 'mixed-writes',
    'not serial': 'not-serializable',
  },
  CrashSafetyReport: { schedules: 'plans', untried: 'notTried' },
  CrashSafetyError: { schedules: 'plans', untried: 'notTried', strays: 'nondeterminism' },
  Disruption: { told: 'description' },
  DisruptionKind: {
    'before-route': 'before-handler',
    twice: 'duplicate',
    'lost-call': 'lost-response',
    'notify-first': 'early-event',
    'parallel-order': 'branch-order',
  },
  Incompatibility: { sentence: 'message', refusal: 'sdkError' },
  PlayResult: { findings: 'checks' },
  PlayCheck: { place: 'path' },
  'RunHistoryEntry.unknown': { cut: 'truncated', 'left out': 'omitted', 'perhaps undefined': 'maybe-undefined' },
  Invariant: { promise: 'guarantee', examine: gone },
  InvariantReport: { breaches: 'violations' },
  InvariantViolation: { sentence: 'message', promise: 'guarantee' },
}

const commandLine: Table = {
  'the command line': { explore: 'campaign run', 'explore merge': 'campaign merge' },
  'the command campaign merge': { '--campaign': '--file' },
  'the command serve': {
    '--store URL': '--real-redis URL',
    '--twin URL': '--shadow-redis URL',
    '--shift': '--rebase-time',
    '--allow-engine': '--allow-redis-host',
    '--readonly-token': '--store-readonly-token',
    '--max-body': '--max-body-bytes',
    '--max-entries': '--max-traffic-entries',
    '--max-arrival': '--request-timeout',
    '--max-arrival MILLISECONDS': '--request-timeout DURATION',
    '--cluster-lease MILLISECONDS': '--cluster-lease DURATION',
    '--cluster-address': '--cluster-node-url',
    '--cluster-base': '--cluster-public-url',
  },
  'the command run': { '--i-know': '--allow-production', '--deliver': '--deliver-to' },
  'the command play': { '--timeout SPAN': '--timeout DURATION', '--deliver': '--deliver-to' },
  'the command history': { '--secrets': '--include-secrets' },
  'any command': {
    '--vocabulary': '--dialect',
    '--vocabulary auto|service|upstash': '--dialect auto|neutral|upstash',
    '--deliver': '--deliver-to',
    '--i-know': '--allow-production',
    '--shift': '--rebase-time',
    '--store': gone,
    '--twin': gone,
    '--secrets': gone,
    '--campaign': gone,
  },
  'the environment': {
    STUNTDOUBLE_CONTROL: 'STUNTDOUBLE_CONTROL_URL',
    STUNTDOUBLE_CLUSTER: 'STUNTDOUBLE_CLUSTER_URL',
  },
}

const control: Table = {
  'the control API': {
    'POST /check': 'POST /invariants/assert',
    'POST /examine': 'POST /invariants/check',
    'POST /play': 'POST /faults',
    'POST /place': 'POST /resolve-instant',
    'POST /go-on': 'POST /continue',
    'POST /clock/settled': 'POST /clock/settle',
    'POST /store/at': 'POST /store/as-of',
    'POST /store/difference': 'POST /store/diff-between',
    'GET /store/spend': 'GET /store/cost',
    'GET /queue/keys': 'GET /queue/signing-keys',
    'POST /queue/keys/rotate': 'POST /queue/signing-keys/rotate',
    'POST /queue/messages/:id/release': 'POST /queue/messages/:id/deliver-now',
    'POST /queue/url-groups/:name': 'POST /queue/url-groups/:name/endpoints',
    'POST /workflow/steps/return': 'POST /workflow/stubs/returns',
    'POST /workflow/steps/fail': 'POST /workflow/stubs/throws',
    'POST /workflow/steps/time-out': 'POST /workflow/stubs/times-out',
    'POST /workflow/events': 'POST /workflow/stubs/event',
    'GET /workflow/unused': 'GET /workflow/stubs/unused',
    'POST /workflow/runs/:id/reach': 'POST /workflow/runs/:id/advance-to-step',
    'POST /workflow/runs/:id/end': 'POST /workflow/runs/:id/advance-to-end',
    'POST /destinations/answer': 'POST /destinations/respond',
    'POST /calls/script': 'POST /outbound/script',
    'POST /calls/answer': 'POST /outbound/respond',
    'POST /calls/record': 'POST /outbound/record',
    'GET /calls/recorded': 'GET /outbound/recorded',
    'GET /calls': 'GET /outbound',
    'DELETE /calls': 'DELETE /outbound',
    'POST /stats/queue': 'PUT /stats/queue/overrides',
    'POST /stats/search/:id': 'PUT /stats/search/:id/overrides',
    'POST /stats/queue/story': 'PUT /stats/queue/script',
    'POST /stats/search/:id/story': 'PUT /stats/search/:id/script',
  },
  'POST /queue/sign': { wrong: 'flaw' },
  'POST /queue/explain': { schedule: 'scheduleId' },
  'POST /faults': { faults: 'scenario' },
  'PUT /state': { shift: 'rebaseTime' },
  'POST /clock/advance, POST /clock/advance-to, POST /clock/drain': { budget: 'maxTimers' },
  'POST /destinations/respond, POST /destinations/record': { answer: 'response' },
  'POST /outbound/respond, POST /outbound/record': { answer: 'response', to: 'url' },
  'POST /outbound/script, GET /outbound/recorded, DELETE /outbound': { to: 'url' },
  'the response of POST /queue/messages/:id/cancel': { cancelled: 'canceled' },
  'the response of POST /clock/step': { stepped: 'fired' },
  'the response of POST /queue/publish': { time: 'createdAt', due: 'nextAttemptAt', ended: 'isEnded' },
  'the events of GET /traffic/stream': { renewed: 'reset' },
  'the path of a URL for outbound requests': { calls: 'outbound' },
}

const agents: Table = {
  'the tools': {
    world: 'get_status',
    reset: 'reset_sandbox',
    fork: 'fork_sandbox',
    upcoming: 'list_timers',
    advance: 'advance_clock',
    advance_to: 'advance_clock_to',
    drain: 'drain_clock',
    step: 'step_clock',
    store_get: 'get_key',
    store_dump: 'dump_store',
    store_changes: 'list_store_changes',
    store_at: 'read_store_as_of',
    store_difference: 'diff_store',
    publish: 'publish_message',
    messages: 'list_messages',
    forecast: 'forecast_message',
    explain: 'explain_resource',
    schedule_slots: 'list_fire_times',
    diagnostics: 'list_diagnostics',
    runs: 'list_workflow_runs',
    explain_run: 'explain_workflow_run',
    run_history: 'get_run_history',
    answer_deliveries: 'respond_to_deliveries',
    unanswered: 'list_unhandled',
    faults: 'list_faults',
    unused_faults: 'list_unused_faults',
    check_promises: 'check_invariants',
    entries: 'list_entries',
    timeline: 'get_timeline',
    diagram: 'get_diagram',
    tenants: 'list_tenants',
    fault_kinds: 'list_fault_kinds',
    find_failing_history: 'find_failing_seed',
    dead_letters: 'list_dead_letters',
    schedules: 'list_schedules',
  },
  'the arguments of tools': { part: 'page', whole: 'full', answer: 'response', budget: 'maxTimers' },
}

/** Exported types. The old ones are exported by no entry at all. */
const types: Table = {
  stuntdouble: {
    DirectStore: 'Store',
    DirectQueue: 'Queue',
    DirectWorkflows: 'Workflow',
    DirectConnection: 'StoreConnection',
    DirectPublish: 'PublishOptions',
    PublishedTo: 'PublishResult',
    VirtualClock: 'Clock',
    TrafficView: 'Traffic',
    Statistics: 'Stats',
    ListedFault: 'FaultRuleStatus',
    BrokenPromise: 'InvariantError',
    Breach: 'InvariantViolation',
    Check: 'InvariantReport',
    CheckOptions: 'InvariantOptions',
    World: gone,
    Word: 'CommandArg',
    Spend: 'StoreCost',
    StoreCosts: 'StoreCostTotals',
    Credentials: 'DevUser',
    publicCredentials: 'devUsers',
    SignatureOverrides: 'SignOptions',
    ReplyOptions: 'StatusOptions',
    Step: gone,
    Given: 'ScenarioGiven',
    Calls: 'Outbound',
    ForeignCall: 'OutboundRequest',
    CallEntry: 'OutboundEntry',
    CallAnswer: 'LoggedOutboundResponse',
    CallHandler: 'OutboundHandler',
    CallStep: 'OutboundStep',
    PlainCallHandler: 'OutboundResponder',
    PlainCallAnswer: 'OutboundResponse',
    PlainHandler: 'DestinationResponder',
    PlainAnswer: 'DestinationResponse',
    Call: 'RawRequest',
    Answer: 'RawResponse',
    RequestAnswer: 'LoggedResponse',
    Vocabulary: 'Dialect',
    VocabularyName: 'DialectName',
    Addresses: 'SandboxUrls',
    AddressOptions: 'UrlOptions',
    Reach: 'DeliveryHosts',
    FaultPoint: 'InjectionPoint',
    DeliveryPoint: 'DeliveryInjectionPoint',
    DriveCall: 'ClockMove',
    MoveOptions: 'AdvanceOptions',
    Follower: 'ClockFollower',
    Mark: 'TrafficMark',
    EntryStamp: 'EntryBase',
    HiddenFields: 'RedactedFields',
    StoreChange: 'StoreDiff',
    StoreDifference: 'StoreDiff',
    Explained: 'ExplainTarget',
    ForecastCause: 'ForecastBlocker',
    GroupEndpoint: 'UrlGroupEndpoint',
    StepError: 'StubError',
    RunEnd: 'WorkflowRunEnd',
    UnplayedCalls: 'UnusedScript',
    History: 'RunHistory',
    HistoryEntry: 'RunHistoryEntry',
    HistoryOptions: 'RunHistoryOptions',
    hiddenBody: gone,
    isEntryType: gone,
    rateLimitHeaders: gone,
    EntryBody: gone,
    TrafficContext: gone,
    TrafficLimits: gone,
    CallOptions: gone,
  },
  'stuntdouble/stats': {
    Moment: 'UsageInstant',
    Figures: 'StatsOverrides',
    QueueScale: 'QueueUsageOptions',
    SearchScale: 'SearchUsageOptions',
    QueueStep: 'QueueUsageStep',
    SearchStep: 'SearchUsageStep',
    Point: 'SeriesPoint',
    Period: 'StatsPeriod',
  },
  'stuntdouble/client': {
    RemoteHandle: 'RemoteFaultHandle',
    RemotePast: 'RemotePastSandbox',
    RemoteRun: 'RemoteWorkflowRun',
    RemoteCallRecorder: 'RemoteOutboundRecorder',
    RecordedCall: 'RecordedOutbound',
    RecordedRequest: 'RecordedDelivery',
  },
  'stuntdouble/server': {
    Node: 'ClusterNode',
    Failure: 'FailedAssertion',
    LoggedRequest: 'RequestLogEntry',
    RunningServer: 'StuntdoubleServer',
  },
  'stuntdouble/real-redis': {
    EngineSandbox: 'RealRedisSandbox',
    EngineSandboxOptions: 'RealRedisSandboxOptions',
    TwinSandbox: 'ShadowSandbox',
    TwinDifference: 'ShadowDifference',
    NamedDifference: 'KnownDifference',
  },
  'stuntdouble/redis': {
    NativeOptions: 'RedisConnectionOptions',
    connector: 'ioredisConnector',
    redisSocket: 'openRedisSocket',
  },
  'stuntdouble/report': {
    Selection: 'CopySelection',
    CopyForm: 'CopyFormat',
    copyForms: 'copyFormats',
    formsFor: 'copyFormatsFor',
    TraceDifference: 'TraceDiff',
    EntryChange: 'EntryDiff',
    traceDifference: 'diffTraces',
    differenceText: 'formatTraceDiff',
    decoded: 'decode',
  },
  'stuntdouble/matchers': {
    Range: 'CountRange',
    Place: 'TestLocation',
    Word: 'CommandArgPattern',
    CallPattern: 'OutboundPattern',
    SignedPattern: 'SignaturePattern',
    SpentPattern: 'CostPattern',
    SpentOptions: 'CostOptions',
    RunPattern: 'WorkflowRunPattern',
    StepPattern: 'WorkflowStepPattern',
    StepPart: 'WorkflowStepItem',
    WaitedPattern: 'WorkflowWaitPattern',
    AttemptPart: 'AttemptItem',
    KnownKeys: 'ReceiverKeys',
  },
  'stuntdouble/checks': {
    Client: 'ConcurrentClient',
    ClientResult: 'ClientOutcome',
    ClientOrderOptions: 'InterleavingOptions',
    PlacementOptions: 'FaultExplorationOptions',
    TriedOrders: 'InterleavingExploration',
    OrderOutcome: 'InterleavingOutcome',
    OrderStep: 'InterleavingStep',
    OrderDifference: 'SerialDifference',
    Outcome: 'ExplorationOutcome',
    Flaw: 'Anomaly',
    FlawName: 'AnomalyName',
    Disturbance: 'Disruption',
    DisturbanceKind: 'DisruptionKind',
    CoverageFigure: 'Coverage',
    DeliverySubject: 'DeliveryUnderTest',
    VerificationSubject: 'AppUnderTest',
    AppKeys: 'ReceiverKeys',
    CrashPointOptions: 'CrashSafetyOptions',
    CrashPointCheck: 'CrashSafetyReport',
    CrashFinding: 'CrashFailure',
    Repetition: 'RepetitionKind',
    CampaignRun: 'CampaignContext',
    Replay: 'ReplayResult',
    Unchecked: 'InconclusivePrefix',
  },
  'stuntdouble/scenarios': { Play: 'PlayResult', Finding: 'PlayCheck' },
  'stuntdouble/fast-check': {
    CheckDeliveryOptions: 'ResilienceOptions',
    DeliveryCheck: 'ResilienceReport',
    StoreTurn: 'StoreRequest',
    StoreTurnOptions: 'StoreRequestOptions',
  },
  'stuntdouble/msw-data': { Counts: 'RecordCounts', New: 'NewRecord' },
}

const typeMembers: Table = {
  'QueueUsageStep, SearchUsageStep': { times: 'factor', of: 'metrics' },
  ShadowDifference: { named: 'known', engine: 'redis' },
  CopyFormat: { of: 'render' },
  TraceDiff: { world: 'context' },
}

const pages: Table = {
  'the pages and examples': {
    'docs/calls.md': 'docs/outbound.md',
    'docs/engines.md': 'docs/real-redis.md',
    'docs/native-protocol.md': 'docs/redis-protocol.md',
    'docs/properties.md': 'docs/checks.md',
    'docs/histories.md': 'docs/replay.md',
    'docs/recipes/collections.md': 'docs/recipes/msw-data.md',
    'docs/stories.md': 'docs/case-studies.md',
    'examples/stories': 'examples/case-studies',
    'examples/histories': 'examples/replay',
    'docs/decisions/how-a-world-goes-back.md': 'docs/decisions/time-travel.md',
    'docs/decisions/orders-that-stand-for-others.md': 'docs/decisions/equivalent-interleavings.md',
    'docs/decisions/tenants-outlive-their-node.md': 'docs/decisions/cluster-ownership.md',
    'docs/decisions/vendor-words-come-off-at-the-gateway.md': 'docs/decisions/dialects.md',
    'docs/decisions/who-made-a-foreign-call.md': 'docs/decisions/outbound-causes.md',
    'docs/decisions/tokens-come-of-a-secret.md': 'docs/decisions/derived-tokens.md',
    'docs/decisions/a-process-dies-between-two-effects.md': 'docs/decisions/crash-points.md',
    'docs/decisions/agents-get-data-in-a-fence.md': 'docs/decisions/untrusted-data.md',
    'docs/decisions/schedules-that-reach-more.md': 'docs/decisions/coverage-guidance.md',
    'docs/decisions/schedules-when-clocks-change.md': 'docs/decisions/daylight-saving.md',
    'docs/decisions/the-server-keeps-pages-out.md': 'docs/decisions/browser-access.md',
    'docs/decisions/work-is-counted.md': 'docs/decisions/work-budget.md',
    'docs/decisions/campaigns-in-blocks.md': 'docs/decisions/campaign-blocks.md',
    'docs/decisions/lua-has-its-own-parser.md': 'docs/decisions/lua-parser.md',
    'docs/decisions/what-the-store-answers-beyond-the-documentation.md': 'docs/decisions/undocumented-replies.md',
  },
  'the files of the case studies': { 'as-it-was.ts': 'broken.ts', 'mended.ts': 'fixed.ts' },
  'the headings of pages': {
    'For agents': 'MCP server for agents',
    Promises: 'Invariants',
    'Whose words': 'Dialects',
    'Failures that others have had': 'Case studies',
    'Find the failure instead of guessing it': 'Property-based checks',
    'Before you deploy: runs that are under way': 'Replay production runs against new code',
    'Tenants that outlive their node': 'Cluster',
  },
}

/** Names in a text. */
const listed = (names: string): readonly string[] => names.trim().split(/\s+/)

/** Values of an entry. */
const values: Readonly<Record<string, string>> = {
  stuntdouble: `
    createSandbox defineScenario fault fakeTimers defaultPolicy neutralDialect upstashDialect faultKinds
    injectionPoints entryTypes signatureFlaws invariants devUsers InvariantError ReplyError`,
  'stuntdouble/stats': 'usage',
  'stuntdouble/scenarios': 'playScenario scenarios',
  'stuntdouble/checks': `
    assertIdempotent assertVerifiesSignatures assertCrashSafe exploreFaults exploreInterleavings replay
    parseRunHistory defineCampaign IdempotenceError NotRepeatableError CrashSafetyError RunHistoryError`,
  'stuntdouble/fast-check': 'assertResilient ResilienceError arb sendStoreRequests disputedPolicies deliveryFaultKinds',
  'stuntdouble/real-redis': 'createRealRedisSandbox createShadowSandbox',
  'stuntdouble/redis': 'ioredisConnector openRedisSocket',
  'stuntdouble/msw-data': 'createCollections readCollections',
  'stuntdouble/report': 'loadTrace toHtml decode diffTraces formatTraceDiff copyFormats copyFormatsFor',
  'stuntdouble/matchers': 'sandboxMatchers messageTo commandOf entryOf evaluators',
}

/** Members of one value that an entry has, each. */
const insides: Readonly<Record<string, string>> = {
  usage: 'steady spikeAt gap latencies counterReset monthEnd',
  arb: 'message schedule cron command clockMove storeRequests faultRules deliveryFaults outboundFaults deliveryScript',
}

/** Internal names, which are in no declaration. */
const internal: Readonly<Record<string, string>> = {
  'Sandbox.faults': 'quiet armed down hasAdded removeAdded watch ask askAt takeDown',
  FaultHandle: 'number',
  'Sandbox.destinations': 'recorderAt answererAt responderAt noticePublisher deliver',
  'Sandbox.outbound': 'recorderAt onOrigin isEmpty patterns unanswered reaches knows takes wrongWith exchange',
  'Sandbox.traffic': 'context costs redaction',
  Task: 'whenAsleep fallAsleep whenStuck beside',
}

/** Names that stay with another type. */
const shapes: readonly (readonly [place: string, written: string | RegExp])[] = [
  ['Sandbox.faults.rules', 'readonly FaultRuleStatus[]'],
  ['Sandbox.faults.unused', 'readonly UnusedFault[]'],
  ['Sandbox.destinations.unused', /^readonly /],
  ['Sandbox.outbound.unused', /^readonly /],
  ['Sandbox.workflow.unused', /^readonly /],
  ['Sandbox.clock.pending', /^readonly /],
  ['Sandbox.clock.running', 'readonly string[]'],
  ['Sandbox.clock.isDraining', /^(?:true|false) \| (?:true|false)$/],
  ['Sandbox.faults.add(0)', /readonly FaultRule\[\]/],
  ['Sandbox.queue.upsertQueue', '(name: string, options: UpsertQueueOptions) => void'],
  ['UpsertQueueOptions.parallelism', 'number'],
  ['Sandbox.queue.schedules.upcoming', /^\(id: string, span: FireTimeSpan\)/],
  ['Sandbox.workflow.notify', /^\(eventId: string, data\?: unknown, options\?: NotifyOptions \| undefined\)/],
  ['Sandbox.stats.queue.override', /^\(fields: /],
  ['Sandbox.stats.queue.script', /\(steps: .*, options\?: /],
  ['Sandbox.stats.search().script', /\(steps: .*, options\?: /],
  ['RemoteSandbox.stats.queue.script', /\(steps: .*, options\?: /],
  ['fault.rateLimited', /^\(options\?: RateLimitedOptions/],
  ['fault.status', /^\(code: number, options\?: StatusOptions/],
  ['Sandbox.queue.publish(0).notBefore', 'string | number | Date'],
  ['InterleavingOptions.stopOnFirstFailure', /^(?:true|false) \| (?:true|false)$/],
  ['scenarios.poisonMessage', 'Scenario'],
]

/** What takes `'10m'`. */
const durations = [
  'StatusOptions.retryAfter',
  'RateLimitedOptions.retryAfter',
  'ServerOptions.cluster.lease',
  'ServerOptions.limits.requestTimeout',
  'InterleavingOptions.timeBudget',
  'ReplayOptions.timeout',
  'Scenario.destinations[].response.delay',
  'ScenarioStep.pinFlowControl.period',
  'Policy.searchIndexingDelay',
  'Policy.deliveredRetention',
  'Policy.deduplicationWindow',
  'Policy.maxRetryDelay',
  'Policy.maxRatePeriod',
  'Policy.handlerStallTimeout',
  'Sandbox.queue.publish(0).delay',
  'Sandbox.queue.publish(0).timeout',
]

const root = new URL('../..', import.meta.url).pathname
const own = join(inject('consumer'), 'node_modules/stuntdouble')

const read = (file: string): string => readFileSync(join(own, file), 'utf8')
const readJson = (file: string): Record<string, unknown> => JSON.parse(read(file))
const load = async (entry: string): Promise<object> => import(join(own, `dist/${entry}.js`))

/** Entry → its declarations in package.json. */
const { exports: published } = readJson('package.json') as {
  exports: Record<string, { readonly types?: string; readonly import?: { readonly types: string } } | string>
}
const declarationFiles = Object.fromEntries(
  Object.entries(published).flatMap(([path, target]) => {
    const file = typeof target === 'string' ? undefined : (target.types ?? target.import?.types)
    return file === undefined ? [] : [[path.replace(/^\./, 'stuntdouble'), join(own, file)]]
  }),
)
const declarations = new Declarations(declarationFiles)

/** Files in which a place is behind a `#`. */
const files: Readonly<Record<string, { names(path: string): Names }>> = {
  'scenario.schema.json': new SchemaFile(readJson('dist/scenario.schema.json')),
  'trace.schema.json': new SchemaFile(readJson('dist/trace.schema.json')),
  [shipped]: new DataFiles(
    readdirSync(join(own, 'dist/scenarios')).map((file) => parse(read(`dist/scenarios/${file}`))),
  ),
}

/** Values that are neither in a declaration nor in a file. */
const places = new Map<string, Names>()

beforeAll(async () => {
  await addCommandLine()
  addControlAndTools()
  addPages()
  await addRunning()
})

async function addCommandLine(): Promise<void> {
  places.set('the command line', new Set(Object.keys(programs)))
  const all: string[] = []
  for (const [name, command] of Object.entries(programs)) {
    const { args } = (await command.load()).program
    const flags = Object.entries(args as Record<string, { readonly valueHint?: string }>).flatMap(
      ([flag, { valueHint }]) => [`--${flag}`, `--${flag} ${valueHint}`],
    )
    places.set(`the command ${name}`, new Set(flags))
    all.push(...flags)
  }
  places.set('any command', new Set(all))
  const code = readdirSync(join(own, 'dist')).filter((file) => file.endsWith('.js'))
  const variables = code.flatMap((file) => read(`dist/${file}`).match(/\bSTUNTDOUBLE_[A-Z_]+/g) ?? [])
  places.set('the environment', new Set(variables))
}

function addControlAndTools(): void {
  places.set('the control API', new Set(controlOperations.map(({ method, path }) => `${method} ${path}`)))
  for (const { method, path, body, query = {} } of controlOperations) {
    const schema = body === undefined ? {} : toJsonSchema(body, { errorMode: 'ignore', typeMode: 'input' })
    places.set(`${method} ${path}`, new Set([...Object.keys(query), ...new SchemaFile({ ...schema }).names('')]))
  }
  places.set('the tools', new Set(tools.map(({ name }) => name)))
  places.set('the arguments of tools', new Set(tools.flatMap(({ input }) => Object.keys(input.properties))))
}

function addPages(): void {
  const paths = ['docs', 'examples'].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((file) => `${folder}/${file}`),
  )
  places.set('the pages and examples', new Set(paths))
  const studies = paths.filter((file) => file.startsWith('examples/case-studies/'))
  places.set('the files of the case studies', new Set(studies.map((file) => basename(file))))
  const headings = paths
    .filter((file) => /^docs\/[\w/-]+\.md$/.test(file))
    .flatMap((file) => readFileSync(join(root, file), 'utf8').match(/(?<=^#+ ).*/gm) ?? [])
  places.set('the headings of pages', new Set(headings))
}

/** Values that only a running program shows: the policies of a sandbox, and responses of a server. */
async function addRunning(): Promise<void> {
  const keys = (value: object): Names => new Set(Object.keys(value))
  const { defaultPolicy } = (await load('index')) as { defaultPolicy: object }
  places.set('the policies of a program', keys(defaultPolicy))

  const { startServer } = (await load('server')) as typeof import('stuntdouble/server')
  const { connect } = (await load('client')) as typeof import('stuntdouble/client')
  const server = await startServer({ port: 0 })
  try {
    const control = (path: string, body?: object): Promise<Response> => {
      const post = { method: 'POST', body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }
      return fetch(`${server.origin}/_control/main${path}`, body && post)
    }
    const post = async (path: string, body: object): Promise<{ readonly id?: string }> =>
      (await (await control(path, body)).json()) as object
    const { outbound } = await connect(server.origin)
    places.set('the path of a URL for outbound requests', new Set(outbound.urlFor('https://bank.test').split('/')))
    const message = await post('/queue/publish', { to: 'https://shop.test/orders', delay: '1h' })
    places.set('the response of POST /queue/publish', keys(message))
    const ended = await post(`/queue/messages/${message.id}/cancel`, {})
    places.set('the response of POST /queue/messages/:id/cancel', keys(ended))
    places.set('the response of POST /clock/step', keys(await post('/clock/step', {})))
    const stream = await control('/traffic/stream')
    await post('/reset', {})
    places.set('the events of GET /traffic/stream', await eventsOf(stream))
  } finally {
    await server.close()
  }
}

/** Returns the names of the events of a stream, until a reset. */
async function eventsOf({ body }: Response): Promise<Names> {
  const decoder = new TextDecoder()
  let text = ''
  for await (const bytes of body!) {
    text += decoder.decode(bytes, { stream: true })
    if (/^event: (?:reset|renewed)$/m.test(text)) break
  }
  return new Set(text.match(/(?<=^event: ).*/gm) ?? [])
}

function namesAt(place: string): Names {
  const [file, path] = place.split('#') as [string, string?]
  if (path !== undefined) return files[file]!.names(path)
  return (
    places.get(place) ?? (place in declarationFiles ? declarations.exports(place, 'all') : declarations.names(place))
  )
}

/** Returns whether a new name is at a place or below it. */
function isAt(place: string, name: string): boolean {
  // A shipped scenario has what it needs.
  if (namesAt(place).has(name) || place.startsWith(shipped)) return true
  const [outer, inner] = name.split('.') as [string, string?]
  if (inner === undefined || !namesAt(place).has(outer)) return false
  return namesAt(place in declarationFiles ? outer : `${place}.${outer}`).has(inner)
}

const instead = (now: string): string => (now === gone ? 'and nothing takes its place' : `and its new name is ${now}`)

interface Row {
  readonly place: string
  readonly old: string
  readonly now: string
}

/** Returns the violations of a row. A missing place is also a violation, because it may have the old name itself. */
function mistakesOf({ place, old, now }: Row): readonly string[] {
  try {
    if (namesAt(place).size === 0 && !place.startsWith(shipped)) return [`${place} has no names at all`]
    const left = namesAt(place).has(old) ? [`${place} still has ${old}, ${instead(now)}`] : []
    return now === gone || isAt(place, now) ? left : [...left, `${place} lacks ${now}, which was ${old}`]
  } catch (error) {
    return [(error as Error).message]
  }
}

function mistakesIn(table: Table): readonly string[] {
  const rows = Object.entries(table).flatMap(([at, renamed]) =>
    at.split(', ').flatMap((place) => Object.entries(renamed).map(([old, now]): Row => ({ place, old, now }))),
  )
  return [...new Set(rows.flatMap(mistakesOf))]
}

describe('new names have replaced old names', () => {
  test.each<[what: string, table: Table]>([
    ['members', members],
    ['options', options],
    ['faults', faults],
    ['matchers', matchers],
    ['entries of the traffic log', entries],
    ['policies', policies],
    ['scenarios', scenarios],
    ['checks', checks],
    ['the command line and its environment', commandLine],
    ['the control API', control],
    ['tools for agents', agents],
    ['exports', types],
    ['members of types', typeMembers],
    ['pages', pages],
  ])('of %s', (_, table) => {
    expect(mistakesIn(table)).toEqual([])
  })

  test('of exports, in any entry', () => {
    const everything = declarations.everything()
    const left = Object.values(types)
      .flatMap((table) => Object.entries(table))
      .filter(([old]) => everything.has(old))
    expect(left.map(([old, now]) => `An entry still exports ${old}, ${instead(now)}`)).toEqual([])
  })
})

describe('values of the entries', () => {
  test.each(Object.entries(values))('%s exports exactly these values', async (entry, text) => {
    const names = listed(text)
    const loaded = (await import(declarationFiles[entry]!.replace(/\.d\.ts$/, '.js'))) as object
    expect(Object.keys(loaded).toSorted()).toEqual(names.toSorted())
    expect([...declarations.exports(entry, 'values')].toSorted()).toEqual(names.toSorted())
  })

  test.each(Object.entries(insides))('%s has exactly these members', (place, names) => {
    expect([...declarations.names(place)].toSorted()).toEqual(listed(names).toSorted())
  })

  test('each kind of fault has a constructor with its name', () => {
    const kinds = [...declarations.names('FaultKind')]
    const functions = kinds.map((kind) => kind.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase()))
    expect(kinds).toHaveLength(31)
    expect([...declarations.names('fault')].toSorted()).toEqual(functions.toSorted())
  })

  test('the name of each MCP tool is an action and a noun', () => {
    expect([...namesAt('the tools')].filter((name) => !/^[a-z]+(?:_[a-z]+)+$/.test(name))).toEqual([])
  })

  test('no declaration contains an internal name', () => {
    const found = Object.entries(internal).flatMap(([place, names]) =>
      listed(names)
        .filter((name) => declarations.names(place).has(name))
        .map((name) => `${place} shows ${name}`),
    )
    expect(found).toEqual([])
  })
})

describe('names with another type', () => {
  test.each(shapes)('%s', (place, written) => {
    expect(declarations.text(place)).toEqual(typeof written === 'string' ? written : expect.stringMatching(written))
  })

  test.each(durations)('%s takes a text such as 10m', (place) => {
    expect(declarations.text(place)).toMatch(/`\$\{number\}m`/)
  })
})
