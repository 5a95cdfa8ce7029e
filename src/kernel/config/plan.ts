export const paidPlans = ['premium', 'ultimate'] as const
/** The plans, each with all that the ones before it have. */
export const plans = ['free', ...paidPlans] as const
export type Plan = (typeof plans)[number]

/** Whether what needs `needed` is there under `plan`: the one comparison of plans. */
export function includesPlan(plan: Plan, needed: Plan): boolean {
  return plans.indexOf(plan) >= plans.indexOf(needed)
}
