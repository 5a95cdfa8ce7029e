import { Fields, Flag, Int, Json, ListOf, Nullable, Optional, Text } from '../../kernel/endpoint/index.ts'

const Value = Fields({ key: Text(), value: Nullable(Text()), defined: Flag(), concealed: Flag() })

/** Which keys there are depends on the clause. */
const Clause = Fields({
  clause: Text({ description: 'if, changes, exists, refs, variables or kubernetes' }),
  holds: Flag(),
  expression: Optional(Text()),
  values: Optional(ListOf(Value)),
  expressions: Optional(ListOf(Fields({ expression: Text(), values: ListOf(Value) }))),
  refs: Optional(ListOf(Text())),
  paths: Optional(ListOf(Text())),
  compareTo: Optional(Nullable(Text())),
  comparable: Optional(Flag()),
  project: Optional(Nullable(Text())),
  ref: Optional(Nullable(Text())),
  found: Optional(Json({ description: 'The path or ref that it was found by' })),
})
const Rule = Fields({
  index: Int(),
  when: Nullable(Text()),
  matched: Nullable(Flag({ description: 'Null: an earlier rule matched' })),
  clauses: ListOf(Clause),
})
const why = {
  reason: Text({
    description: 'always, rule_matched, rule_never, no_rule_matched, only, except or filters',
  }),
  rule: Nullable(Int({ description: 'Position of the rule that decided' })),
  rules: Nullable(ListOf(Rule)),
  only: Nullable(ListOf(Clause)),
  except: Nullable(ListOf(Clause)),
}

export const Simulation = Fields({
  valid: Flag(),
  failure_reason: Nullable(Text()),
  errors: ListOf(Text()),
  warnings: ListOf(Text()),
  pipeline: Nullable(
    Fields({
      ref: Text(),
      tag: Flag(),
      sha: Text(),
      source: Text(),
      protected: Flag(),
      name: Nullable(Text()),
      stages: ListOf(Text()),
      auto_cancel: Fields({ on_new_commit: Text(), on_job_failure: Text() }),
    }),
  ),
  workflow: Nullable(Fields({ rules: ListOf(Rule) })),
  jobs: ListOf(
    Fields({
      name: Text(),
      stage: Text(),
      kind: Text(),
      when: Text(),
      start_in: Nullable(Int()),
      allow_failure: Flag(),
      allow_failure_exit_codes: Nullable(ListOf(Int())),
      needs: Nullable(ListOf(Fields({ name: Text(), artifacts: Flag(), optional: Flag() }))),
      dependencies: Nullable(ListOf(Text())),
      tag_list: ListOf(Text()),
      environment: Nullable(Text()),
      resource_group: Nullable(Text()),
      variables: ListOf(Fields({ key: Text(), value: Text() })),
      ...why,
    }),
  ),
  left_out: ListOf(Fields({ name: Text(), stage: Text(), ...why })),
  complete: Flag({ description: 'False: there was more to explain than is told' }),
})

const other = { source: Text(), environment_scope: Nullable(Text()), value: Nullable(Text()) }

export const ExplainedVariable = Fields({
  key: Text(),
  value: Nullable(Text({ description: 'Expanded; null where it may not be seen, or is not known yet' })),
  variable_type: Text(),
  source: Nullable(
    Text({
      description:
        'predefined, global, workflow_rule, job, matrix, rule, instance, group or project; null: nothing of this key reaches the job',
    }),
  ),
  environment_scope: Nullable(Text()),
  raw: Flag(),
  masked: Flag(),
  hidden: Flag(),
  protected: Flag(),
  concealed: Flag({ description: 'You may not see the value' }),
  known: Flag({ description: 'False: known only when the job runs' }),
  hides: ListOf(Fields(other)),
  left_out: ListOf(
    Fields({ ...other, reasons: ListOf(Text({ description: 'protected or environment_scope' })) }),
  ),
})
