import { ciStage } from '../ci.ts'
import type { Prepare, Scenarios } from '../stage.ts'

const onCi: Prepare = async (stage) => ({ stage: await ciStage(stage) })

export const ciLintScenarios: Scenarios = {
  'GET /projects/:id/ci/lint': { '': onCi },
  'POST /projects/:id/ci/lint': {
    '': async (stage, caller, row) => ({
      ...(await onCi(stage, caller, row)),
      body: { content: 'test: {script: x}' },
    }),
  },
}
