/** What a record is of, as its name says. */

/**
 * `mul_ forward` of `Tensor.mul_.0.forward`, `Linear backward` of
 * `Module.net.fc.Linear.backward.0`; other names without their counts.
 */
export function kindOf(name: string): string {
  const [, type, direction] =
    /(?:^|\.)([^.]+)(?:\.\d+)?\.(forward|backward|parameters_grad)(?:\.\d+)?$/.exec(name) ?? [];
  return type === undefined ? name.replace(/(\.\d+)+$/, "") : `${type} ${direction}`;
}
