/** A labelled choice in one line. */

interface Props {
  label: string;
  value: string;
  options: { value: string; name: string }[];
  change: (value: string) => void;
  className?: string;
}

export function Picker({ label, value, options, change, className = "" }: Props) {
  return (
    <label class={`pick ${className}`} title={className === "" ? undefined : value}>
      <span>{label}</span>
      <select
        aria-label={label}
        value={value}
        disabled={options.length < 2}
        onChange={(event) => change(event.currentTarget.value)}
      >
        {options.map((option) => (
          <option key={option.value} value={option.value} selected={option.value === value}>
            {option.name}
          </option>
        ))}
      </select>
    </label>
  );
}
