import { ciStage } from '../ci.ts'
import type { Prepare, Scenarios } from '../stage.ts'

const onCi: Prepare = async (stage) => ({ stage: await ciStage(stage) })

export const ciLintScenarios: Scenarios = {
  'POST /projects/:id/ci/simulate': {
    '': async (stage, caller, row) => ({ ...(await onCi(stage, caller, row)), body: { ref: 'free' } }),
  },
  'GET /projects/:id/variables/explain': {
    '': async (stage, caller, row) => ({ ...(await onCi(stage, caller, row)), query: 'ref=free' }),
  },
  'GET /projects/:id/ci/lint': { '': onCi },
  'POST /projects/:id/ci/lint': {
    '': async (stage, caller, row) => ({
      ...(await onCi(stage, caller, row)),
      body: { content: 'test: {script: x}' },
    }),
  },
}
