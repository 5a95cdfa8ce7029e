export { offers, planOf, type PlanFeature } from './features.ts'
export { includesPlan, paidPlans, plans, type Plan } from './plan.ts'
export { ConfigError, readConfig, roles, variables, type Config, type Role } from './environment.ts'
